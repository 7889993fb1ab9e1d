/** A backup that cannot be made or read; the message is for the operator and names the file at fault. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}

/** There is no backup of that name. */
export class BackupMissingError extends BackupError {}
