/** What a storage says when it refuses, in sentences. Its own words are never repeated, but for a code of letters. */
import { BackupError } from '../../errors.ts';
import type { S3Settings } from './settings.ts';

/** What an answer's body tells of: bounded before it came here. */
export function codeOf(body: Buffer): string | null {
  const text = body.toString('latin1');
  const from = text.indexOf('<Code>');
  const to = text.indexOf('</Code>', from);
  if (from < 0 || to < 0 || to - from > 80) return null;
  const code = text.slice(from + '<Code>'.length, to);
  return /^[A-Za-z0-9.]{1,64}$/.test(code) ? code : null;
}

const otherRegion = new Set([
  'AuthorizationHeaderMalformed',
  'PermanentRedirect',
  'TemporaryRedirect',
  'IllegalLocationConstraintException',
]);
const noRoom = new Set([
  'QuotaExceeded',
  'QuotaExceededException',
  'InsufficientStorage',
  'InsufficientCapacity',
  'StorageFull',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
  'EntityTooLarge',
]);
const unknownKey = new Set([
  'InvalidAccessKeyId',
  'NotSignedUp',
  'ExpiredToken',
  'InvalidToken',
  'TokenRefreshRequired',
]);

export interface Refused {
  readonly status: number;
  readonly code: string | null;
  /** In words: `read`, `write`, `list`, `remove`. */
  readonly verb: string;
  readonly where: string;
}

export function refusal({ endpoint, region, bucket }: S3Settings, { status, code, verb, where }: Refused): BackupError {
  const said = code === null ? `${status}` : `${status} ${code}`;
  if (status === 507 || (code !== null && noRoom.has(code))) {
    return new BackupError(`${endpoint} has no room for ${where} (${said}).`);
  }
  if (code === 'NoSuchBucket' || code === 'InvalidBucketName') {
    return new BackupError(`There is no bucket ${bucket} at ${endpoint} (${said}). Lodge makes none: make it first.`);
  }
  if (code !== null && unknownKey.has(code)) {
    return new BackupError(`${endpoint} does not take the access key (${said}).`);
  }
  if (code === 'SignatureDoesNotMatch') {
    return new BackupError(
      `${endpoint} refuses the signature (${said}): the secret key does not belong to the access key.`,
    );
  }
  if (code === 'RequestTimeTooSkewed') {
    return new BackupError(`The clock of this machine and that of ${endpoint} differ by too much (${said}).`);
  }
  if (status === 301 || status === 307 || (code !== null && otherRegion.has(code))) {
    return new BackupError(
      `The bucket ${bucket} is not to be had at ${endpoint} in the region ${region} (${said}). Set the endpoint and the region that belong to it.`,
    );
  }
  if (status === 401 || status === 403) {
    return new BackupError(`The access key may not ${verb} ${where} at ${endpoint} (${said}).`);
  }
  return new BackupError(`${endpoint} could not ${verb} ${where}: it answered ${said}.`);
}
