import * as fc from "fast-check";

// The same commands for every mutant, and no search for the shortest ones that show what is wrong.
fc.configureGlobal({ seed: 1, endOnFailure: true });
