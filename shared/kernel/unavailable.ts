/** Something that the service stands on throttles or does not answer: nothing is wrong with the request; try again. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}
