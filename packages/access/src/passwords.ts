/**
 * Passwords at rest: Argon2id, as `$argon2id$v=19$m=<KiB>,t=<passes>,p=<lanes>$<salt>$<hash>`, the form of its reference
 * implementation. Each hash carries its parameters, so they can rise: a hash with other parameters is replaced when its
 * owner signs in.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { networkOf, siteOf } from '@lodge/domain';
import { Gate } from './gate.ts';

const argon2Async = promisify(argon2);

/** OWASP's first choice for Argon2id: about 30 ms and 19 MiB on one core. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const saltBytes = 16;
const tagBytes = 32;
/** Bounds on concurrent hashes, which take threads that file and name look-ups need too. */
const gate = new Gate({ atOnce: 2, waiting: 64, waitingOfNetwork: 20, waitingOfSite: 24 });

interface Hashed {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/** Hashes a password. Throws `BusyError` when too many calls wait already, in all or from the network of `address`. */
export async function hashPassword(password: string, address: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const tag = await derive(password, address, { ...parameters, salt, tag: Buffer.alloc(tagBytes) });
  return format({ ...parameters, salt, tag });
}

/**
 * Verifies a password. Takes as long for `null`, a missing account, as for a wrong password. Throws `BusyError` as
 * `hashPassword` does.
 */
export async function verifyPassword(password: string, hash: string | null, address: string): Promise<boolean> {
  const wanted = hash === null ? nobodys : parse(hash);
  const right = timingSafeEqual(await derive(password, address, wanted), wanted.tag);
  return right && hash !== null;
}

/** Whether a hash was made with other parameters than today's. */
export function isOutdated(hash: string): boolean {
  const { memory, passes, parallelism } = parse(hash);
  return memory !== parameters.memory || passes !== parameters.passes || parallelism !== parameters.parallelism;
}

/** The hash of no password. */
const nobodys: Hashed = { ...parameters, salt: randomBytes(saltBytes), tag: randomBytes(tagBytes) };

function derive(
  password: string,
  address: string,
  { memory, passes, parallelism, salt, tag }: Hashed,
): Promise<Buffer> {
  // One text can be written in several ways, because keyboards differ.
  const message = password.normalize('NFKC');
  const work = { message, nonce: salt, memory, passes, parallelism, tagLength: tag.length };
  return gate.run({ network: networkOf(address), site: siteOf(address) }, () => argon2Async('argon2id', work));
}

function format({ memory, passes, parallelism, salt, tag }: Hashed): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function parse(hash: string): Hashed {
  const match = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/.exec(hash);
  if (!match) throw new Error('A stored password hash is damaged.');
  const [, memory, passes, parallelism, salt, tag] = match;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt!, 'base64'),
    tag: Buffer.from(tag!, 'base64'),
  };
}
