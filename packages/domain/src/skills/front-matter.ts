/**
 * Reads what a SKILL.md says of itself: by agentskills.io its name and description, and in the words of OpenClaw and Hermes
 * what it needs. A value that is none of these is left out, because each runtime adds words of its own.
 */
import { SkillProblem, isSkillName, skillBounds } from './skill.ts';
import type { SkillRequires } from './skill.ts';

export interface SkillHead {
  readonly name: string;
  readonly description: string;
  readonly requires: SkillRequires;
}

/** Splits a SKILL.md. Throws a `SkillProblem` where the front matter or the instructions are missing. */
export function splitSkillFile(text: string): { readonly frontMatter: string; readonly instructions: string } {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const end = lines.indexOf('---', 1);
  if (lines[0] !== '---' || end < 0) {
    throw new SkillProblem('SKILL.md must begin with front matter: YAML between two lines of ---');
  }
  const frontMatter = lines.slice(1, end).join('\n');
  if (frontMatter.length > skillBounds.frontMatterBytes) {
    throw new SkillProblem(`the front matter of SKILL.md is longer than ${skillBounds.frontMatterBytes / 1024} KiB`);
  }
  const instructions = lines.slice(end + 1).join('\n');
  if (instructions.trim() === '') throw new SkillProblem('SKILL.md has no instructions behind its front matter');
  return { frontMatter, instructions };
}

/** Reads the parsed front matter, in which every scalar is a string. */
export function skillHeadOf(frontMatter: unknown): SkillHead {
  const head = fieldsOf(frontMatter);
  const { name, description } = head;
  if (typeof name !== 'string' || !isSkillName(name)) {
    throw new SkillProblem(
      `name in SKILL.md must be 1 to ${skillBounds.nameChars} lower case letters, digits, and single hyphens between them`,
    );
  }
  if (
    typeof description !== 'string' ||
    description.trim() === '' ||
    chars(description) > skillBounds.descriptionChars
  ) {
    throw new SkillProblem(`description in SKILL.md must be a text of 1 to ${skillBounds.descriptionChars} characters`);
  }
  if (/\0/.test(description) || !description.isWellFormed()) {
    throw new SkillProblem('description in SKILL.md must not contain NUL or unpaired surrogates');
  }
  return { name, description: description.trim(), requires: requiresOf(head) };
}

const chars = (text: string): number => Array.from(text).length;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** OpenClaw's name, and the two that it had before. */
const clawNames = ['openclaw', 'clawdbot', 'clawdis'];

function requiresOf(head: Fields): SkillRequires {
  const metadata = fieldsOf(head['metadata']);
  const claws = clawNames.map((name) => fieldsOf(metadata[name]));
  const needs = claws.map(({ requires }) => fieldsOf(requires));
  const prerequisites = fieldsOf(head['prerequisites']);
  return {
    programs: named(programPattern, [...needs.map(({ bins }) => bins), prerequisites['commands']]),
    variables: named(variablePattern, [
      ...needs.map(({ env }) => env),
      claws.map(({ primaryEnv }) => primaryEnv),
      head['required_environment_variables'],
      prerequisites['env_vars'],
    ]),
  };
}

const programPattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Lists may have names, or objects with a name as Hermes has for variables. */
function named(pattern: RegExp, lists: readonly unknown[]): string[] {
  const names = lists
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : [list]))
    .map((item) => (typeof item === 'string' ? item : fieldsOf(item)['name']))
    .filter((name): name is string => typeof name === 'string' && pattern.test(name));
  return [...new Set(names)].slice(0, skillBounds.requires);
}
