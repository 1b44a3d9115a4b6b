/** Of the contract, in the OpenAPI document and in /status; package.json's own, held together by a test. */
export const API_VERSION = "0.1.0";
