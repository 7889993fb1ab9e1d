/**
 * What tells a machine from the others that went on from the same memory: its names, and its generation.
 *
 *   /run/lodge/generation         the generation's id, for whoever reads files
 *   /run/lodge/generation-count   a page that begins with a number of 32 bits, for who looks at it often: processes map it, and what
 *                                 they keep of randomness is made anew when it is another number (images/src/random.c)
 *
 * The number is raised while the agent's processes are frozen. The host repeats a call whose answer was late, so the same id twice
 * is one generation.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { guestHostnamePattern, guestIdPattern, type GuestIdentity } from '@lodge/guest';
import { Refusal, systemCode } from './errors.ts';
import { fieldsOf, text } from './fields.ts';
import type { Journal } from './journal.ts';

const pageBytes = 4096;

export class Generation {
  private readonly root: string;
  private readonly journal: Journal;
  private readonly count: string;
  private readonly id: string;

  constructor(root: string, journal: Journal) {
    this.root = root;
    this.journal = journal;
    mkdirSync(`${root}/run/lodge`, { recursive: true });
    this.count = `${root}/run/lodge/generation-count`;
    this.id = `${root}/run/lodge/generation`;
    // Of a daemon that crashed, the page stays: others have it mapped.
    if (!existsSync(this.count)) writeFileSync(this.count, Buffer.alloc(pageBytes), { mode: 0o644 });
  }

  begin({ generation, hostname, machineId }: GuestIdentity): void {
    if (readIfThere(this.id)?.trim() === generation) return;
    this.raise();
    this.write(this.id, `${generation}\n`);
    this.name(hostname, machineId);
  }

  /** In place, for the file is mapped. */
  private raise(): void {
    const file = openSync(this.count, 'r+');
    try {
      const number = new Uint32Array(1);
      readSync(file, number, 0, number.byteLength, 0);
      number[0]! += 1;
      writeSync(file, number, 0, number.byteLength, 0);
    } finally {
      closeSync(file);
    }
  }

  private name(hostname: string, machineId: string): void {
    const etc = `${this.root}/etc`;
    writeFileSync(`${this.root}/proc/sys/kernel/hostname`, hostname);
    this.write(`${etc}/hostname`, `${hostname}\n`);
    this.write(`${etc}/machine-id`, `${machineId}\n`);
    this.write(`${etc}/hosts`, hostsWith(readIfThere(`${etc}/hosts`) ?? '', hostname));
  }

  /** Where there is no room for a name, the machine goes on without it. */
  private write(path: string, value: string): void {
    try {
      if (readIfThere(path) === value) return;
      writeFileSync(`${path}.new`, value, { mode: 0o644 });
      renameSync(`${path}.new`, path);
    } catch (error) {
      this.journal.error(`${path} could not be written`, error);
    }
  }
}

/** Throws a 400 unless it is one. */
export function identityFrom(value: unknown): GuestIdentity {
  const fields = fieldsOf(value);
  const read = (key: keyof GuestIdentity, pattern: RegExp): string => {
    const given = text(fields, key);
    if (!pattern.test(given)) throw new Refusal(400, `${key} must be like ${pattern.source}`);
    return given;
  };
  return {
    generation: read('generation', guestIdPattern),
    hostname: read('hostname', guestHostnamePattern),
    machineId: read('machineId', guestIdPattern),
  };
}

/** The image's own line with the machine's name behind it. A file without that line is its owner's, and stays. */
function hostsWith(hosts: string, hostname: string): string {
  return hosts.replace(/^127\.0\.0\.1 localhost agent.*$/m, `127.0.0.1 localhost agent ${hostname}`);
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
