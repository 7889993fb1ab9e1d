/** Settings of backups that go to a bucket. The commands `backup` and `restore` alone read them. */
import { optional, required } from './setting.ts';
import { file, matching, origin } from './values.ts';

export const backupSettings = {
  backupS3Endpoint: optional(
    'LODGE_BACKUP_S3_ENDPOINT',
    'http(s) URL without a path',
    "Amazon's of the region",
    'Storage that backups to s3://bucket/prefix go to.',
    origin,
  ),
  backupS3Region: required(
    'LODGE_BACKUP_S3_REGION',
    'name of a region',
    'us-east-1',
    'Region of that storage; others than Amazon mostly have one alone, and their own name for it.',
    matching(/^[a-z0-9][a-z0-9-]{0,62}$/, 'a region such as us-east-1'),
  ),
  backupS3CredentialsFile: optional(
    'LODGE_BACKUP_S3_CREDENTIALS_FILE',
    'absolute path',
    '`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`',
    'Credentials for that storage, in the form of `~/.aws/credentials`, mode 0600.',
    file,
  ),
} as const;
