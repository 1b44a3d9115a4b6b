import type { RouteId } from "../shared/api/routes.ts";
import { allRoutes } from "../shared/api/routes.ts";
import { NOTHING, type Needs } from "./rights.ts";
import { WORKERS, type WorkerName } from "./workers.ts";
const empty = <K extends string>(names: readonly string[]) =>
  Object.fromEntries(names.map((n) => [n, NOTHING])) as Record<K, Needs>;
export const ENDPOINT_NEEDS = empty<RouteId>(allRoutes.map((r) => r.id));
export const WORKER_NEEDS = empty<WorkerName>(WORKERS.map((w) => w.name));

export const needsOf = (name: string): Needs =>
  (({ ...ENDPOINT_NEEDS, ...WORKER_NEEDS }) as Record<string, Needs>)[name] ?? NOTHING;
