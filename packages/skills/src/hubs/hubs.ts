/**
 * Hubs of skills, by the public part of their APIs. ClawHub: docs/http-api.md of openclaw/clawhub. skills.sh: what its own
 * command line asks (src/blob.ts of vercel-labs/skills).
 */
import { skillBounds, maxSkillArchiveBytes } from '@lodge/domain';
import type { SkillHub } from '@lodge/domain';
import type { SkillOrigin } from '@lodge/ports';
import { fetchWhole } from '../fetch.ts';
import type { Fetched, FetchedFrom } from '../fetch.ts';
import type { SkillJob } from '../reading/jobs.ts';
import { NotThere, SourceFailure } from '../source-failure.ts';

export type HubUrls = Readonly<Record<SkillHub, string>>;
type HubOrigin = Extract<SkillOrigin, { readonly kind: 'hub' }>;

export interface FromHub {
  readonly job: SkillJob;
  /** Null where the hub gives none: the digest of the skill stands for it. */
  readonly version: string | null;
}

const maxFactsBytes = 2 ** 20;
/** JSON writes a character of a text with up to six. */
const maxSnapshotBytes = 3 * skillBounds.bytes;
const versionPattern = /^[\w.+-]{1,128}$/;

/** Throws `NotThere` or `SourceFailure`. */
export function fetchFromHub(
  from: FetchedFrom,
  urls: HubUrls,
  origin: HubOrigin,
  signal: AbortSignal,
): Promise<FromHub> {
  const get = (path: string, maxBytes: number): Promise<Buffer> =>
    fetchWhole(from, { method: 'GET', url: urls[origin.name] + path, signal }, maxBytes).then((answer) =>
      bodyOf(answer),
    );
  return hubs[origin.name](get, origin);
}

function bodyOf({ status, body }: Fetched): Buffer {
  if (status === 200) return body;
  if (status === 404 || status === 410) throw new NotThere('slug and version name nothing that the hub has');
  if (status === 403) throw new SourceFailure('the hub does not give this skill out');
  throw new SourceFailure(
    status === 429 ? 'the hub had too many requests; try again later' : `the hub answered ${status}`,
  );
}

type Get = (path: string, maxBytes: number) => Promise<Buffer>;

const hubs: Readonly<Record<SkillHub, (get: Get, origin: HubOrigin) => Promise<FromHub>>> = {
  async clawhub(get, { slug: named, version }) {
    const parts = named.split('/');
    const slug = parts.at(-1)!;
    if (parts.length > 2) throw new NotThere('slug must be a slug of ClawHub, or owner/slug');
    const owner = parts.length === 2 ? { ownerHandle: parts[0]! } : {};
    const wanted = version ?? (await latestOf(get, slug, owner));
    if (!versionPattern.test(wanted)) throw new NotThere('version must be a version of ClawHub, such as 1.2.3');
    const query = new URLSearchParams({ slug, version: wanted, ...owner });
    const bytes = await get(`/api/v1/download?${query.toString()}`, maxSkillArchiveBytes);
    return { job: { kind: 'zip', bytes }, version: wanted };
  },
  async 'skills.sh'(get, { slug, version }) {
    if (slug.split('/').length !== 3) throw new NotThere('slug must be owner/repository/skill');
    if (version !== null) throw new NotThere('version must be left out: skills.sh has the latest alone');
    return { job: { kind: 'snapshot', bytes: await get(`/api/download/${slug}`, maxSnapshotBytes) }, version: null };
  },
};

async function latestOf(get: Get, slug: string, owner: Readonly<Record<string, string>>): Promise<string> {
  const query = new URLSearchParams(owner).toString();
  const { latestVersion } = objectOf(await get(`/api/v1/skills/${slug}${query && `?${query}`}`, maxFactsBytes));
  const { version } = (latestVersion ?? {}) as { readonly version?: unknown };
  if (typeof version !== 'string') throw new SourceFailure('the hub names no version of this skill');
  return version;
}

function objectOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // It is no JSON.
  }
  throw new SourceFailure('the answer of the hub is not what its API says');
}
