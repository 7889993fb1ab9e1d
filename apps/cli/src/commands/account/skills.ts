/** `lodge skills`: the skills library of the account, and what agents use of it. */
import type { Skill, SkillVersion } from '@lodge/sdk';
import { isApiError } from '@lodge/sdk';
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import { limitOption, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On, Run } from '../../run.ts';
import { addingOf } from '../../skills/adding.ts';
import type { Adding } from '../../skills/adding.ts';
import { defineUses } from '../../skills/uses.ts';
import { cell } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago } from '../../terminal/words.ts';
import { given, integer } from '../../values.ts';

const skillArgument = ['<skill>', 'name or id of the skill'] as const;

interface AddOptions extends Adding {
  readonly acceptFindings?: true;
}

export default function skills(command: Command, on: On): void {
  defineAdd(command, on);
  defineList(command, on);
  defineReads(command, on);
  defineFiles(command, on);
  defineRemove(command, on);
  defineUses(command, on);
}

function defineAdd(command: Command, on: On): void {
  const add = command
    .command('add')
    .argument('<source>', 'a folder, a .zip or .tar.gz, the https address of a repository, or <hub>:<slug>[@version]')
    .option('--ref <ref>', 'branch, tag or commit of the repository')
    .option('--path <folder>', "the skill's folder in the repository")
    .option('--accept-findings', 'take the skill in spite of what the review finds')
    .description('Add a skill, or the next version of one that is there.');
  examples(
    add,
    ['lodge skills add ./release-notes', 'add a folder'],
    ['lodge skills add https://github.com/anthropics/skills --path skills/pdf', 'add a folder of a repository'],
    ['lodge skills add clawhub:gifgrep@1.2.3', 'add a skill of a hub'],
  ).action(
    on(async (run, { acceptFindings, ...options }: AddOptions, source: string) => {
      const adding = await addingOf(source, options);
      const lodge = await run.lodge();
      const added =
        'archive' in adding
          ? lodge.skills.addArchive(
              adding.archive,
              { type: adding.type, acceptFindings: acceptFindings ?? false },
              run.call,
            )
          : lodge.skills.add({ ...adding, ...given({ accept_findings: acceptFindings }) }, run.call);
      const skill = await added.catch((error: unknown) => {
        if (isApiError(error, 'skill_refused')) showFindings(run, error.details['findings']);
        throw error;
      });
      run.out.result(skill, () => skillFields(run, skill));
      if (!run.out.isJson) showFindings(run, skill.findings);
    }),
  );
}

const defineList = (command: Command, on: On): void => {
  const list = command
    .command('list')
    .alias('ls')
    .addOption(limitOption())
    .description('List the skills of the account.');
  examples(list, ['lodge skills list', 'show the library']).action(
    on(async (run, { limit }: ListOptions) => {
      const lodge = await run.lodge();
      await showList<Skill>(
        run,
        lodge.skills.list(run.call),
        limit,
        [
          { title: 'name', value: ({ name }) => name, keep: true },
          { title: 'version', value: ({ version }) => version, align: 'right' },
          { title: 'from', value: ({ source }) => source.url ?? source.slug ?? source.kind },
          { title: 'agents', value: ({ agents }) => agents, align: 'right' },
          { title: 'findings', value: ({ findings }) => findings.length, align: 'right' },
          { title: 'updated', value: ({ updated_at }) => ago(updated_at) },
        ],
        'The account has no skills.',
      );
    }),
  );
};

const defineReads = (command: Command, on: On): void => {
  const show = command
    .command('show')
    .argument(...skillArgument)
    .description('Show a skill as its latest version is.');
  examples(show, ['lodge skills show release-notes', 'show what it is and needs']).action(
    on(async (run, _options: object, meant: string) => {
      const lodge = await run.lodge();
      const skill = await lodge.skills.get(meant, run.call);
      run.out.result(skill, () => skillFields(run, skill));
      if (!run.out.isJson) showFindings(run, skill.findings);
    }),
  );
  const versions = command
    .command('versions')
    .argument(...skillArgument)
    .addOption(limitOption())
    .description('List the versions of a skill, newest first.');
  examples(versions, ['lodge skills versions release-notes', 'show where each is from']).action(
    on(async (run, { limit }: ListOptions, meant: string) => {
      const lodge = await run.lodge();
      await showList<SkillVersion>(
        run,
        lodge.skills.versions(meant, undefined, run.call),
        limit,
        [
          { title: 'version', value: ({ version }) => version, align: 'right', keep: true },
          { title: 'from', value: ({ source }) => source.commit ?? source.version ?? source.kind },
          { title: 'files', value: ({ files }) => files.length, align: 'right' },
          { title: 'digest', value: ({ digest }) => digest.slice(0, 12) },
          { title: 'added', value: ({ created_at }) => ago(created_at) },
        ],
        'The skill has no versions.',
      );
    }),
  );
};

function defineFiles(command: Command, on: On): void {
  const read = command
    .command('read')
    .argument(...skillArgument)
    .argument('[file]', 'path in the skill', 'SKILL.md')
    .option('--version <number>', 'a version that is not the latest', integer(1, 1_000_000))
    .description('Print a file of a skill.');
  examples(read, ['lodge skills read release-notes scripts/notes.sh', 'print a script of it']).action(
    on(async (run, { version }: { readonly version?: number }, meant: string, file: string) => {
      const lodge = await run.lodge();
      const content = await lodge.skills.read(meant, file, given({ version }), run.call);
      const text = await content.text();
      run.out.result({ path: file, text }, () => text);
    }),
  );
}

function defineRemove(command: Command, on: On): void {
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...skillArgument)
    .description('Delete a skill with all its versions.');
  examples(remove, ['lodge skills rm release-notes', 'delete it, after a question']).action(
    on(async (run, _options: object, meant: string) => {
      const lodge = await run.lodge();
      const found = await lodge.skills.get(meant, run.call);
      if (!run.isYes) await confirm(run, `Delete the skill ${safeLine(found.name)} with its versions?`);
      const deleted = await lodge.skills.delete(found.id, run.call);
      run.out.result(deleted, () => `Deleted the skill ${safeLine(found.name)}.\n`);
    }),
  );
}

const skillFields = (run: Run, { source, requires, ...skill }: Skill): string =>
  run.out.fields([
    ['id', cell(skill.id)],
    ['name', cell(skill.name)],
    ['description', cell(skill.description)],
    ['version', cell(skill.version)],
    ['from', cell([source.kind, source.url ?? source.slug, source.commit ?? source.version].filter(Boolean).join(' '))],
    ['programs', cell(requires.programs.join(' ') || null)],
    ['variables', cell(requires.variables.join(' ') || null)],
    ['agents', cell(skill.agents)],
    ['files', cell(skill.files)],
    ['bytes', cell(skill.bytes)],
    ['digest', cell(skill.digest)],
    ['updated', cell(skill.updated_at)],
  ]);

function showFindings(run: Run, findings: unknown): void {
  if (!Array.isArray(findings)) return;
  for (const { severity, rule, file, line, message } of findings as Skill['findings']) {
    run.out.note(safeLine(`${severity} ${rule} ${file}${line === null ? '' : `:${line}`} ${message}`));
  }
}
