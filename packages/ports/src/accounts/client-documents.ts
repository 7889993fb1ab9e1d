/** Reads the documents by which OAuth clients are known that did not register: their ids are the documents' addresses. */
export interface ClientDocuments {
  /** Returns the parsed JSON. Null when it cannot be had, or is not what it should be. */
  read(url: string): Promise<unknown>;
}
