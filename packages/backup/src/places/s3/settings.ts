import { BackupError } from '../../errors.ts';

/** A page has 1,000 entries at most (AWS API reference, ListObjectsV2). */
export const maxPageEntries = 1000;

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3Settings {
  /** http(s) URL without a path. Buckets are asked for by path, as every S3-compatible storage takes them. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Without a slash at either end; may be empty. */
  readonly prefix: string;
  readonly credentials: S3Credentials;
  /** Tests have less patience. */
  readonly pace?: Partial<S3Pace>;
}

export interface S3Pace {
  /** How often one request is tried. */
  readonly attempts: number;
  /** Before the second attempt; each further wait is twice as long. */
  readonly firstWaitMs: number;
  /** For an answer without a body; a body adds a second for each 64 KiB. */
  readonly timeoutMs: number;
  /** What is younger is not removed: a list that needs it may not be shown yet. */
  readonly freshMs: number;
  /** Objects in one page of a list, 1..1000. */
  readonly pageEntries: number;
}

export const usualPace: S3Pace = {
  attempts: 6,
  firstWaitMs: 250,
  timeoutMs: 60_000,
  freshMs: 24 * 3_600_000,
  pageEntries: maxPageEntries,
};

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const segment = /^[A-Za-z0-9_.-]{1,100}$/;
const maxPrefixLength = 500;

/** `s3://bucket/prefix`, with or without a slash at its end. Rejects what could name another object than it says. */
export function bucketOf(address: string): { readonly bucket: string; readonly prefix: string } {
  const [bucket = '', ...segments] = address.slice('s3://'.length).replace(/\/$/, '').split('/');
  const prefix = segments.join('/');
  const isPlain = segments.every((each) => segment.test(each) && each !== '.' && each !== '..');
  if (!bucketName.test(bucket) || bucket.includes('..') || !isPlain || prefix.length > maxPrefixLength) {
    throw new BackupError(
      'A bucket is named as s3://bucket/prefix: letters, digits, dots, dashes and underscores. Credentials are no part of it.',
    );
  }
  return { bucket, prefix };
}
