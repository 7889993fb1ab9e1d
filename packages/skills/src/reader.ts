import { Refusal, SkillProblem, destinationFault } from '@lodge/domain';
import type { SkillSource } from '@lodge/domain';
import { createOutbound, ofNameServers } from '@lodge/egress';
import type { ReadSkill, SkillOrigin, SkillReader } from '@lodge/ports';
import { fetchSkillByGit } from './git/fetch-skill.ts';
import { fetchFromHub } from './hubs/hubs.ts';
import type { HubUrls } from './hubs/hubs.ts';
import type { SkillJob, SkillResult } from './reading/jobs.ts';
import { SkillThread } from './reading/thread.ts';
import { NotThere, SourceFailure } from './source-failure.ts';

export interface SkillReaderOptions {
  /** `public` allows only HTTPS to public addresses, checked at connect. */
  readonly addresses: 'public' | 'any';
  /** HTTP proxy for public servers. */
  readonly egressProxy: string | null;
  readonly hubs: HubUrls;
}

const connectMs = 10_000;
/** For everything that is fetched of one skill. */
const fetchMs = 60_000;

export function openSkillReader({ addresses, egressProxy, hubs }: SkillReaderOptions): SkillReader {
  const outbound = createOutbound(connectMs, egressProxy, ofNameServers(null));
  const from = { outbound, privateAddresses: addresses === 'any' };
  const thread = new SkillThread();
  const read = async (accountId: string, origin: SkillOrigin, signal: AbortSignal): Promise<ReadSkill> => {
    const work = (job: SkillJob): Promise<SkillResult> => thread.run(accountId, job, signal);
    const done = (result: SkillResult, source: SkillSource): ReadSkill => ({ ...skillOf(result), source });
    const until = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
    switch (origin.kind) {
      case 'zip':
      case 'tar.gz':
        return done(await work(origin), { kind: 'upload' });
      case 'git': {
        checkUrl(origin.url, from.privateAddresses);
        const { result, commit } = await fetchSkillByGit(from, origin, work, until);
        const { url, ref, path } = origin;
        return done(result, { kind: 'git', url, ...(ref !== null && { ref }), path: trimmed(path), commit });
      }
      case 'hub': {
        const { job, version } = await fetchFromHub(from, hubs, origin, until);
        const skill = skillOf(await work(job));
        const { name, slug } = origin;
        return { ...skill, source: { kind: 'hub', name, slug, version: version ?? skill.digest } };
      }
    }
  };
  return {
    read: (accountId, origin, signal) =>
      read(accountId, origin, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw refusalOf(origin, error);
      }),
    close: () => outbound.close(),
  };
}

const trimmed = (path: string): string => path.replace(/^\//, '').replace(/\/$/, '');

function skillOf(result: SkillResult) {
  if ('skill' in result) return result.skill;
  throw new SkillProblem('problem' in result ? result.problem : 'the server did not send all that was asked for');
}

/** Refuses addresses that can never be used. Every connection checks the address that it goes to. */
function checkUrl(text: string, privateAddresses: boolean): void {
  const fault = destinationFault(text, privateAddresses);
  if (fault !== null) throw new NotThere(`url ${fault}`);
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '') throw new NotThere('url must have no query and no fragment');
}

/** The messages are ours: no text of a server or of an archive is in them but names of files, cut and quoted. */
function refusalOf({ kind }: SkillOrigin, error: unknown): unknown {
  const field = kind === 'git' || kind === 'hub' ? kind : 'body';
  if (error instanceof NotThere) return new Refusal('invalid_request', `${field}.${error.message}.`);
  if (error instanceof SkillProblem) return new Refusal('invalid_request', `${field}: ${error.message}.`);
  if (error instanceof SourceFailure) {
    return new Refusal('skill_source_failed', `${field}: ${error.message}.`, { cause: error });
  }
  return error;
}
