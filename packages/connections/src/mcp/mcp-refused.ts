/** The server is not spoken to like this: a sentence of ours. */
export class McpRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'McpRefused';
  }
}

/** The server's answer held the connection's credential: nothing of it is passed on, and its session is over. */
export class CredentialEchoed extends McpRefused {
  constructor() {
    super(
      "The server's answer held the credential of this connection, so the answer was refused. The owner of the connection is told.",
    );
    this.name = 'CredentialEchoed';
  }
}
