/** Settings of backups: where they go, when, and how long they are kept. */
import { file, matching, optional, required } from '@lodge/ports/settings';
import { listOfTimes } from './values.ts';

export const backupSettings = {
  backupPlace: optional(
    'LODGE_BACKUP_PLACE',
    'folder, `s3:`, `sftp:`, `b2:`, `azure:` or `rclone:`',
    'no backups by themselves',
    'Where backups go: each day by themselves, and where the commands name no place (docs/guides/backup.md).',
    matching(/^[\w.,:/@+~=-]{1,500}$/, 'a place such as /backup/lodge or s3:https://HOST/BUCKET/PREFIX'),
  ),
  backupAt: required(
    'LODGE_BACKUP_AT',
    'times of day in UTC',
    '03:30',
    'When backups are made by themselves, such as `03:30` or `03:30,15:30`.',
    listOfTimes,
  ),
  backupKeep: optional(
    'LODGE_BACKUP_KEEP',
    'number, or such as `daily=7,weekly=4,monthly=12`',
    'all',
    'Backups that are kept: by number, or the last one of each of so many days, weeks, months.',
    matching(/^[a-z0-9=, ]{1,100}$/, 'a number of backups, or such as daily=7,weekly=4,monthly=12'),
  ),
  backupCredentialsFile: optional(
    'LODGE_BACKUP_CREDENTIALS_FILE',
    'absolute path',
    '`AWS_...`, `B2_...`, `AZURE_...` and `RCLONE_...` of the environment',
    'Credentials of that place: `NAME=value` in lines, or the form of `~/.aws/credentials`; mode 0600.',
    file,
  ),
  backupSshConfig: optional(
    'LODGE_BACKUP_SSH_CONFIG',
    'absolute path',
    "root's own",
    'Configuration of ssh for a place by sftp: which key, which known hosts.',
    matching(/^\/[\w./@+-]{1,200}$/, 'an absolute path of letters, digits and ./_-+@'),
  ),
} as const;
