import * as z from "zod";
import { host, repoPath } from "./repo.ts";
import { across } from "./wire.ts";

/** Both name one repository, neither means all of the organization's. */
export const metricsQuery = z
  .object({ repo: repoPath.optional(), repoHost: host.optional() })
  .refine((query) => (query.repo === undefined) === (query.repoHost === undefined), {
    ...across(() => true),
    path: ["repo"],
    message: "repo and repoHost go together",
  })
  .transform(({ repo, repoHost }) =>
    repo === undefined || repoHost === undefined ? {} : { repo: { host: repoHost, ...repo } },
  );
