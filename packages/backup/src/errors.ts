import { NamedError } from '@lodge/domain';

/** A backup that cannot be made or read; the message is for the operator and names the file at fault. */
export class BackupError extends NamedError {}

/** There is no backup of that name. */
export class BackupMissingError extends BackupError {}
