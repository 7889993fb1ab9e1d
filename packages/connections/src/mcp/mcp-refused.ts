/** The server is not spoken to like this: a sentence of ours. */
export class McpRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'McpRefused';
  }
}
