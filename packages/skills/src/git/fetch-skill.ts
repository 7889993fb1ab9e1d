import type { SkillOrigin } from '@lodge/ports';
import type { FetchedFrom } from '../fetch.ts';
import type { SkillJob, SkillResult } from '../reading/jobs.ts';
import { NotThere, SourceFailure } from '../source-failure.ts';
import { GitClient } from './client.ts';

type GitOrigin = Extract<SkillOrigin, { readonly kind: 'git' }>;

/** Most files that are fetched by their names. Those that are too many are refused when they are counted. */
const maxWants = 2_048;

/** Fetches the folder of one commit. Throws `NotThere` or `SourceFailure`. */
export async function fetchSkillByGit(
  from: FetchedFrom,
  { url, ref, path }: GitOrigin,
  work: (job: SkillJob) => Promise<SkillResult>,
  signal: AbortSignal,
): Promise<{ readonly result: SkillResult; readonly commit: string }> {
  const folder = path.replace(/^\//, '').replace(/\/$/, '');
  if (folder !== '' && folder.split('/').some((name) => name === '' || name === '.' || name === '..')) {
    throw new NotThere('path must be a folder of the repository, such as skills/release-notes');
  }
  const git = await GitClient.open(from, url, signal);
  const commit = await git.resolve(ref);
  const job = { kind: 'git', commit, path: folder } as const;
  const first = await git.fetchCommit(commit);
  const result = await work({ ...job, packs: [first] });
  if (!('missing' in result)) return { result, commit };
  if (!git.canFilter || result.missing.length > maxWants) {
    throw new SourceFailure('the server did not send all of the commit');
  }
  const second = await git.fetchObjects(result.missing);
  return { result: await work({ ...job, packs: [first, second] }), commit };
}
