/**
 * Which installation of the GitHub App is whose. Each is stored three times, by its number, by its account and in its
 * organization, always in one transaction; an installation belongs to one organization and is used by no other.
 */
import * as z from "zod";
import { type OrgSlug, orgSlug } from "../kernel/ids.ts";
import type { EpochMs } from "../kernel/time.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import { ensureOrganization } from "./organizations.ts";
import { getItem } from "./read.ts";
import { put, remove, transact } from "./transaction.ts";
import { versioned } from "./versions.ts";

const stored = versioned(
  z.object({
    entity: z.literal("INSTALLATION"),
    schema: z.literal(1),
    org: z.string().transform(orgSlug),
    host: z.string(),
    id: z.int(),
    /** The account's login in lower case. */
    account: z.string(),
  }),
);

export type Installation = Omit<z.infer<typeof stored>, "entity" | "schema">;

export type InstallationStore = {
  /** OTHERS: it is linked to another organization, or this one has another installation on that account. */
  readonly link: (installation: Installation, now: EpochMs) => Promise<"LINKED" | "OTHERS">;
  readonly unlink: (host: string, id: number) => Promise<Installation | undefined>;
  readonly byId: (host: string, id: number) => Promise<Installation | undefined>;
  /** For whoever comes without an organization: the account of a repository says whose it is. */
  readonly onAccount: (host: string, account: string) => Promise<Installation | undefined>;
  readonly ofAccount: (org: OrgSlug, host: string, account: string) => Promise<Installation | undefined>;
};

export function installationStore(table: Table): InstallationStore {
  const read = async (key: { pk: string; sk: string }): Promise<Installation | undefined> => {
    const item = await getItem(table, key);
    if (item === undefined) return undefined;
    const { entity: _entity, schema: _schema, ...installation } = stored.parse(item);
    return installation;
  };
  const placesOf = ({ org, host, id, account }: Installation) => [
    keys.installation(host, id),
    keys.installationOn(host, account),
    keys.installationOf(org, host, account),
  ];
  const byId = (host: string, id: number) => read(keys.installation(host, id));
  return {
    byId,
    onAccount: (host, account) => read(keys.installationOn(host, account)),
    ofAccount: (org, host, account) => read(keys.installationOf(org, host, account)),
    link: async (installation, now) => {
      const item = { entity: "INSTALLATION", schema: 1, ...installation };
      const isOurs = {
        expression: "attribute_not_exists(pk) OR (org = :org AND id = :id)",
        values: { ":org": installation.org, ":id": installation.id },
      };
      const done = await transact(table, [
        ensureOrganization(table, installation.org, now),
        ...placesOf(installation).map((key) => put(table, { ...key, ...item }, isOurs)),
      ]);
      return done === "COMMITTED" ? "LINKED" : "OTHERS";
    },
    unlink: async (host, id) => {
      const known = await byId(host, id);
      if (known !== undefined)
        await transact(
          table,
          placesOf(known).map((key) => remove(table, key)),
        );
      return known;
    },
  };
}
