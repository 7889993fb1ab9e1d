/** Jobs of the thread that unpacks and reviews, as plain data. Each is done without any other. */
import { SkillProblem } from '@lodge/domain';
import type { Entry } from '../archives/entries.ts';
import { Entries } from '../archives/entries.ts';
import { readTarGz } from '../archives/tar.ts';
import { readZip } from '../archives/zip.ts';
import { filesOfCommit } from '../git/files.ts';
import { inFolder, readSkill } from './read-skill.ts';
import type { SkillContents } from './read-skill.ts';

export type SkillJob =
  | { readonly kind: 'zip' | 'tar.gz' | 'snapshot'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'git';
      readonly packs: readonly Uint8Array[];
      readonly commit: string;
      readonly path: string;
    };

export type SkillResult =
  | { readonly skill: SkillContents }
  /** Objects that a fetch left out and the skill needs. */
  | { readonly missing: readonly string[] }
  | { readonly problem: string };

/** Does a job. It throws for a fault of ours alone. */
export async function doSkillJob(job: SkillJob): Promise<SkillResult> {
  try {
    if (job.kind === 'git') {
      const found = filesOfCommit(job.packs, job.commit, job.path);
      if ('missing' in found) return found;
      return { skill: readSkill(found.entries, job.path.split('/').at(-1) || null) };
    }
    const { entries, folder } = inFolder(await entriesOf(job.kind, job.bytes));
    return { skill: readSkill(entries, folder) };
  } catch (error) {
    if (error instanceof SkillProblem) return { problem: error.message };
    throw error;
  }
}

function entriesOf(
  kind: 'zip' | 'tar.gz' | 'snapshot',
  bytes: Uint8Array,
): readonly Entry[] | Promise<readonly Entry[]> {
  switch (kind) {
    case 'zip':
      return readZip(bytes);
    case 'tar.gz':
      return readTarGz(bytes);
    case 'snapshot':
      return filesOfSnapshot(bytes);
  }
}

/** Reads `{"files": [{"path", "contents"}]}`, as skills.sh sends a skill. */
function filesOfSnapshot(bytes: Uint8Array): readonly Entry[] {
  let files: unknown;
  try {
    ({ files } = JSON.parse(Buffer.from(bytes).toString()) as { readonly files?: unknown });
  } catch {
    files = null;
  }
  if (!Array.isArray(files)) throw new SkillProblem('it is no list of files');
  const entries = new Entries();
  for (const file of files as unknown[]) {
    entries.see();
    const { path, contents } = (file ?? {}) as { readonly path?: unknown; readonly contents?: unknown };
    if (typeof path !== 'string' || typeof contents !== 'string') throw new SkillProblem('it is no list of files');
    const content = Buffer.from(contents);
    if (entries.admit(path, content.length))
      entries.add({ path, content, executable: content.subarray(0, 2).toString() === '#!' });
  }
  return entries.files;
}
