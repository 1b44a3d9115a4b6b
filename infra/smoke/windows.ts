/** A maintenance window that never opens: its schedule is made and taken back. */
import * as z from "zod";
import { DAY_MS } from "../../shared/kernel/time.ts";
import { type Check, outcome, told } from "./check.ts";

const window = z.object({ windowId: z.string(), state: z.string() });
const list = z.object({ windows: z.array(window) });

export const windows: readonly Check[] = [
  {
    name: "a maintenance window in a week is scheduled, listed and cancelled",
    run: async ({ ask, scratch }) => {
      const startsAt = new Date(Date.now() + 7 * DAY_MS).toISOString();
      const made = await ask("/scheduleMaintenance", {
        action: "drain",
        startsAt,
        durationMinutes: 30,
        reason: "smoke",
      });
      const read = window.safeParse(made.json);
      if (!read.success) return outcome("fail", `scheduleMaintenance: ${told(made)}`);
      const { windowId } = read.data;
      const listed = await ask("/listMaintenanceWindows", { repo: scratch.repo });
      const isListed = list.safeParse(listed.json).data?.windows.some((one) => one.windowId === windowId) === true;
      const cancelled = await ask("/cancelMaintenance", { windowId });
      const state = window.safeParse(cancelled.json).data?.state;
      if (!isListed) return outcome("fail", `it is not listed: ${told(listed)}`);
      return outcome(state === "CANCELLED" ? "pass" : "fail", `SCHEDULED, then ${state ?? told(cancelled)}`);
    },
  },
];
