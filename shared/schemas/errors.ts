import * as z from "zod";

/** The one shape of every error. `code` is an enum in the OpenAPI document, and stable. */
export const errorBody = (codes: readonly string[]) =>
  z.object({
    error: z.object({
      code: z.enum(codes),
      message: z.string().meta({ description: "Says what to do next." }),
      requestId: z.string(),
      issues: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .meta({ description: "Only on 400: every problem of the request." }),
    }),
  });
