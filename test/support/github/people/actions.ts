import type { CheckApp } from "../world.ts";

/** GitHub Actions, as checks name it. */
export const ACTIONS: CheckApp = { id: 15_368, slug: "github-actions", name: "GitHub Actions" };
