/** restic's complaints in sentences of ours. Its own words are never repeated: they may name anything. */
import { BackupError } from '../errors.ts';

/** The action that restic was asked for, as a sentence names it. */
export type Verb = 'read' | 'written' | 'checked' | 'cleared up';

/** restic cannot be told apart by its exit code before 0.17, so its words are looked at. In order: the first one counts. */
const complaints: readonly (readonly [RegExp, (place: string, verb: Verb) => string])[] = [
  [
    /no space left on device|disk quota exceeded|QuotaExceeded|InsufficientStorage|StorageFull|InsufficientCapacity|out of disk space/i,
    (place) => `There is no room left in ${place}: no backup was made there.`,
  ],
  [
    /NoSuchBucket|specified bucket does not exist|ContainerNotFound/i,
    (place) => `The bucket of ${place} does not exist.`,
  ],
  [
    /InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|AuthenticationFailed|unauthorized|access key id you provided|signature we calculated/i,
    (place) => `The storage of ${place} does not take the credentials.`,
  ],
  [
    /no credentials|unable to (?:find|open) .{0,200}(?:account|credentials)|account (?:ID|name|key).{0,200}(?:empty|not)|is empty/i,
    (place) => `There are no credentials for ${place}: name their file in LODGE_BACKUP_CREDENTIALS_FILE.`,
  ],
  [
    /Permission denied \(|Host key verification failed|no matching host key/i,
    (place) => `ssh is refused by the host of ${place}: its key must be known, and ours must be allowed there.`,
  ],
  [
    /ciphertext verification failed|does not match|invalid data returned|repository contains errors|not contained in|unexpected EOF|invalid character|load\(?<(?:data|index|snapshot)|file does not exist|The specified key does not exist|wrong size|corrupt|damaged|Blob ID does not match/i,
    (place) => `The backups in ${place} are damaged: what is there is not what was written.`,
  ],
  [/wrong password or no key found/i, (place) => `The backups in ${place} do not open with this master key.`],
  [
    /connection refused|no such host|no route to host|network is unreachable|i\/o timeout|deadline exceeded|connection reset|Connection timed out|Connection closed|Could not resolve hostname|subprocess ssh exited|server misbehaving|broken pipe|unexpected packet|TLS handshake|ssh command exited/i,
    (place) => `The place ${place} cannot be reached.`,
  ],
  [/already locked/i, (place) => `Another program works on the backups in ${place} just now.`],
  [
    /permission denied|access denied|AccessDenied|Forbidden|not authorized|read-only file system|operation not permitted/i,
    (place, verb) => `The backups in ${place} could not be ${verb}: it is not permitted.`,
  ],
];

export function refusal(said: string, place: string, verb: Verb): BackupError {
  const found = complaints.find(([pattern]) => pattern.test(said));
  return new BackupError(found?.[1](place, verb) ?? `The backups in ${place} could not be ${verb}.`);
}

/** There is no repository of this key yet. */
export const isAbsent = (said: string): boolean =>
  /Is there a repository at the following location|repository does not exist/i.test(said) &&
  /no such file|does not exist|not exist|not found|NoSuchKey|StatusCode=404/i.test(said);

export const isLocked = (said: string): boolean => /already locked/i.test(said);
