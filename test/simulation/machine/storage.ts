/** The embedded table, one process for many simulations, in memory; each has an empty table of its own. */
import { CreateTableCommand, DeleteTableCommand } from "@aws-sdk/client-dynamodb";
import { startTableProcess } from "../../../infra/local/table-process.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { openTable, type Table } from "../../../shared/table/client.ts";
import { tableDefinition } from "../../../shared/table/table-definition.ts";

export type Storage = {
  readonly endpoint: string;
  /** With a client that nothing is done to. */
  readonly create: (name: string) => Promise<Table & { readonly drop: () => Promise<void> }>;
  readonly stop: () => Promise<void>;
};

export async function startStorage(): Promise<Storage> {
  const running = await startTableProcess({ data: null, log: silentLog });
  const { endpoint } = running;
  return {
    endpoint,
    create: async (name) => {
      const table = openTable({ name, endpoint });
      // Without a stream: the simulation makes its own, and the embedded table slows down with every record of one.
      const { StreamSpecification: _, ...definition } = tableDefinition(name);
      await table.client.send(new CreateTableCommand(definition));
      const drop = async (): Promise<void> => {
        await table.client.send(new DeleteTableCommand({ TableName: name }));
        table.client.destroy();
      };
      return { ...table, drop };
    },
    stop: running.stop,
  };
}
