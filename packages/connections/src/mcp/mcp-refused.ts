import { NamedError } from '@lodge/domain';

/** Thrown when a server cannot be used in this way, with a sentence of ours. */
export class McpRefused extends NamedError {}

/**
 * Thrown when the server's answer contained the connection's credential. Nothing of it is passed on, and its session ends.
 */
export class CredentialEchoed extends McpRefused {
  constructor() {
    super(
      "The server's answer held the credential of this connection, so the answer was refused. The owner of the connection is told.",
    );
  }
}
