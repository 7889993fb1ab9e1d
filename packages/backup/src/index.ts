export { BackupError, BackupMissingError } from './errors.ts';
export { lockBackups } from './lock.ts';
export { backupPassword } from './password.ts';
export { placeOf } from './restic/place.ts';
export type { Place } from './restic/place.ts';
export { newBackupName, Repository } from './restic/repository.ts';
export type { Progress } from './restic/repository.ts';
