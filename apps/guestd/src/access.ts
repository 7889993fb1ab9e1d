/**
 * Who may call the daemon.
 *
 *   unclaimed   whoever the peer check lets through: a guest that is being made into a template, and its clone up to the
 *               host's first call
 *   claimed     whoever presents the credential; who does not is refused with 401 before anything of the call is looked at
 *
 * A claim comes with a call that may be made (`claimHeader`): the first one to an unclaimed daemon, later one with the credential
 * that is to be replaced. A guest that was booted is claimed from the start, by its kernel's command line. A claim whose answer
 * was lost may be repeated. There is no way back to unclaimed but a boot.
 *
 * The digest lies in `/run`, which a boot takes away: a daemon that is started again after a crash is still claimed.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { claimHeader, credentialDigest, credentialDigestPattern, credentialPattern } from '@lodge/guest';
import { Refusal, systemCode } from './errors.ts';
import type { Journal } from './journal.ts';
import type { Settings } from './settings.ts';

/** Refused calls are told at most this often: whoever tries must not fill the log. */
const tellEveryMs = 60_000;

export class Access {
  private readonly folder: string;
  private readonly journal: Journal;
  private digest: string | null;
  private refused = 0;
  private toldAt = -Infinity;

  constructor({ root, credentialDigest: given }: Settings, journal: Journal) {
    this.folder = `${root}/run/lodge`;
    this.journal = journal;
    mkdirSync(this.folder, { recursive: true });
    this.digest = this.stored() ?? given;
    // The first hash of a process is slow, and a clone's first call is on the way of every create.
    credentialDigest('');
  }

  /** Throws a 401 unless these are the headers of a call that may be made. Takes the claim in them, where there is one. */
  check(headers: IncomingHttpHeaders): void {
    const claim = headers[claimHeader];
    const claimed = typeof claim === 'string' && credentialPattern.test(claim) ? credentialDigest(claim) : null;
    const known = this.digest === null || this.matches(presented(headers)) || this.matches(claimed);
    if (!known) throw this.refusal();
    if (claim === undefined) return;
    if (claimed === null) throw new Refusal(400, `${claimHeader} must be 32 bytes in base64url`);
    if (claimed !== this.digest) this.take(claimed);
  }

  private matches(digest: string | null): boolean {
    // Both are hashed once more, so that neither their bytes nor their lengths show in the time it takes.
    return this.digest !== null && digest !== null && timingSafeEqual(hashOf(digest), hashOf(this.digest));
  }

  private refusal(): Refusal {
    this.refused += 1;
    const now = performance.now();
    if (now - this.toldAt > tellEveryMs) {
      this.journal.info(`calls refused for want of the host's credential, since the daemon began: ${this.refused}`);
      this.toldAt = now;
    }
    return new Refusal(401, "the call does not carry the host's credential");
  }

  private take(digest: string): void {
    const file = `${this.folder}/credential`;
    writeFileSync(`${file}.new`, digest, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    this.digest = digest;
  }

  private stored(): string | null {
    try {
      const text = readFileSync(`${this.folder}/credential`, 'utf8');
      return credentialDigestPattern.test(text) ? text : null;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
  }
}

function presented({ authorization }: IncomingHttpHeaders): string | null {
  const [, credential] = /^Bearer (.{1,100})$/.exec(authorization ?? '') ?? [];
  return credential === undefined ? null : credentialDigest(credential);
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
