/** Makes a skill of files, wherever they are from: its SKILL.md is read, its files are hashed and reviewed. */
import { createHash, hash } from 'node:crypto';
import {
  SkillProblem,
  reviewSkill,
  shownPath,
  skillBounds,
  skillFile,
  skillHeadOf,
  splitSkillFile,
} from '@lodge/domain';
import type { ReadSkill } from '@lodge/ports';
import { parse } from 'yaml';
import type { Entry } from '../archives/entries.ts';

export type SkillContents = Omit<ReadSkill, 'source'>;

/** `folder` is the name of the folder that the skill was in; null where that is not known. */
export function readSkill(entries: readonly Entry[], folder: string | null): SkillContents {
  const main = entries.find(({ path }) => path === skillFile);
  if (main === undefined) throw new SkillProblem(`no ${skillFile} is in it`);
  const head = headOf(main.content);
  if (folder !== null && folder !== head.name) {
    throw new SkillProblem(`name in SKILL.md must be that of its folder, ${shownPath(folder)}`);
  }
  const files = entries
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, executable, content }) => ({
      path,
      bytes: content.length,
      sha256: hash('sha256', content),
      executable,
      // A copy that shares no memory with the others.
      content: new Uint8Array(content),
    }));
  return { ...head, digest: digestOf(files), findings: reviewSkill(files), files };
}

/** The entries of an archive, which has the skill's folder or what is in it. */
export function inFolder(entries: readonly Entry[]): {
  readonly entries: readonly Entry[];
  readonly folder: string | null;
} {
  if (entries.some(({ path }) => path === skillFile)) return { entries, folder: null };
  const [folder = ''] = entries[0]?.path.split('/') ?? [];
  const prefix = `${folder}/`;
  const isOne = entries.length > 0 && entries.every(({ path }) => path.startsWith(prefix));
  if (!isOne || !entries.some(({ path }) => path === prefix + skillFile)) {
    throw new SkillProblem(`no ${skillFile} is at its top, nor in one folder that holds everything`);
  }
  return { folder, entries: entries.map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) })) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function headOf(content: Uint8Array) {
  if (content.length > skillBounds.instructionBytes) {
    throw new SkillProblem(`SKILL.md has more than ${skillBounds.instructionBytes / 1024} KiB`);
  }
  let text: string;
  try {
    text = utf8.decode(content);
  } catch {
    throw new SkillProblem('SKILL.md is not UTF-8');
  }
  const { frontMatter } = splitSkillFile(text);
  return skillHeadOf(yamlOf(frontMatter));
}

/** Every scalar stays text, and nothing is repeated by an alias. */
function yamlOf(text: string): unknown {
  try {
    return parse(text, { schema: 'failsafe', maxAliasCount: 0, logLevel: 'error' });
  } catch (error) {
    throw new SkillProblem('the front matter of SKILL.md is not YAML that can be read', { cause: error });
  }
}

function digestOf(
  files: readonly { readonly path: string; readonly sha256: string; readonly executable: boolean }[],
): string {
  const digest = createHash('sha256');
  for (const { path, sha256, executable } of files) digest.update(`${sha256} ${executable ? 'x' : '-'} ${path}\0`);
  return digest.digest('hex');
}
