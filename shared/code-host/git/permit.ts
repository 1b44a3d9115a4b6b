/** Whether checks may start on this machine now. What is refused is tried again, and explained with these words. */
import { statfs } from "node:fs/promises";
import { HostUnavailable } from "../port.ts";

/** Throws HostUnavailable where none may. */
export type Permit = () => Promise<void>;

const MIB = 1024 * 1024;

/** Checks write to this disk, and a full one stops everybody. */
export const whileDiskIsFree =
  (folder: string, freeBytesMin: number): Permit =>
  async () => {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    if (free < freeBytesMin)
      throw new HostUnavailable(
        `no check starts while the data disk has less than ${Math.round(freeBytesMin / MIB)} MiB free; ` +
          `it has ${Math.floor(free / MIB)} MiB. Free some space: checks then start by themselves`,
      );
  };

/** Code of pull requests would reach what must stay out of its reach. */
export const never =
  (why: string): Permit =>
  async () => {
    throw new HostUnavailable(`no check runs on this machine: ${why}`);
  };
