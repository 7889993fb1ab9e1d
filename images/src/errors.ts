/** A build that cannot go on. `message` says what failed and what to do about it, for the operator; a tool's own words are in the log. */
export class ImageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImageError';
  }
}
