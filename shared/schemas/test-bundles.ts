/** The protocol of existing upload clients: a bundle is announced, put where it is told to, and quarantine is asked for. */
import * as z from "zod";
import { text } from "./wire.ts";

const name = text(1, 200);
/** As clients read it from the repository's remote. */
const repo = z.object({ host: name, owner: name, name });

export const createBundleUpload = z.object({
  repo,
  orgUrlSlug: text(1, 100),
  clientVersion: text(0, 200).default(""),
  remoteUrls: z.array(text(0, 2000)).max(100).default([]),
  externalId: text(0, 200).nullish(),
});

export const bundleUpload = z.object({
  id: z.string(),
  idV2: z.string(),
  url: z.string().meta({ description: "Takes the bundle by PUT, once, for 15 minutes." }),
  key: z.string(),
});

const IDENTIFIERS_MAX = 100_000;

export const getQuarantineConfig = z.object({
  repo,
  orgUrlSlug: text(1, 100),
  remoteUrls: z.array(text(0, 2000)).max(100).default([]),
  testIdentifiers: z
    .array(
      z.object({
        /** Clients make it themselves; without it, it is made of the names. */
        id: z.string().max(100).nullish(),
        name: z.string().max(10_000).default(""),
        parentName: z.string().max(10_000).nullish(),
        className: z.string().max(10_000).nullish(),
        file: z.string().max(10_000).nullish(),
        variant: z.string().max(1_000).nullish(),
      }),
    )
    .max(IDENTIFIERS_MAX)
    .default([]),
});

export const quarantineConfig = z.object({
  isDisabled: z.boolean().meta({ description: "The repository quarantines nothing." }),
  testIds: z.array(z.string()).meta({ description: "Of those that were asked about, the quarantined ones." }),
});
