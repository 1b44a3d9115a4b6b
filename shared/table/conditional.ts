import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";

/** Performs a lone conditional write. False where its condition did not hold: somebody else wrote first. */
export async function unlessRefused(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
