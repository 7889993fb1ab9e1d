/**
 * The pages of the site, in the order of its navigation. A page that is not there yet is left out, so that its place may be
 * written down before it. The test beside this file refuses a guide that is in no section. How Lodge works inside is for
 * readers of the repository: its links lead nowhere here.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { channelNames } from '../../../packages/domain/src/channels/channel.ts';

export interface Section {
  readonly title: string;
  /** Their files from the repository's root, without `.md`. */
  readonly pages: readonly string[];
}

export const sections: readonly Section[] = [
  {
    title: 'Begin',
    pages: ['README', 'docs/guides/quick-start', 'docs/guides/dashboard'],
  },
  {
    title: 'Coming from',
    pages: [
      'docs/guides/coming-from/openai-assistants',
      'docs/guides/coming-from/e2b-daytona',
      'docs/guides/coming-from/openclaw-hermes',
      'docs/guides/import',
    ],
  },
  {
    title: 'Hands',
    pages: [
      'docs/guides/cli',
      'packages/sdk/README',
      'packages/sdk-python/README',
      'docs/guides/mcp',
      'docs/guides/agents-as-files',
    ],
  },
  {
    title: 'Agents',
    pages: [
      'docs/guides/workspace',
      'docs/guides/labels',
      'docs/guides/agent-tools',
      'docs/guides/schedules',
      'docs/guides/snapshots',
      'docs/guides/connections',
      'docs/guides/confirmations',
      'docs/guides/skills',
      'docs/guides/github-agent',
      'docs/guides/report-behind-a-login',
      'docs/guides/addresses',
      'docs/guides/egress',
      'docs/guides/packages',
      'docs/guides/browser',
      'docs/guides/usage',
    ],
  },
  {
    title: 'Channels',
    pages: ['docs/guides/channels/README', ...channelNames.map((name) => `docs/guides/channels/${name}`)],
  },
  {
    title: 'Events',
    pages: ['docs/guides/events', 'docs/guides/webhooks', 'docs/guides/inbound-hooks'],
  },
  {
    title: 'Running Lodge',
    pages: [
      'docs/guides/accounts',
      'docs/guides/operating',
      'docs/guides/backup',
      'docs/guides/service',
      'docs/guides/container',
      'docs/guides/caddy',
      'docs/security',
      'docs/templates',
    ],
  },
  {
    title: 'Reference',
    pages: ['docs/reference/configuration', 'docs/reference/bounds'],
  },
];

export interface Page {
  /** Its file from the repository's root. */
  readonly file: string;
  /** Its place in the site, without `.md`: `guides/usage`, and `index` for the first. */
  readonly place: string;
  readonly title: string;
  /** Its first sentence. */
  readonly summary: string;
  readonly text: string;
}

export interface FilledSection {
  readonly title: string;
  readonly pages: readonly Page[];
}

const packages: Readonly<Record<string, string>> = {
  'packages/sdk/README': 'sdk/javascript',
  'packages/sdk-python/README': 'sdk/python',
};

/** The place of a file, given without `.md`. */
export const placeOf = (name: string): string =>
  packages[name] ?? name.replace(/^docs\//, '').replace(/README$/, 'index');

/** Reads the sections' pages, as far as they are there. */
export async function readSections(root: string): Promise<FilledSection[]> {
  const filled = sections.map(async ({ title, pages }) => ({
    title,
    pages: (await Promise.all(pages.map((name) => readPage(root, name)))).filter((page) => page !== null),
  }));
  return (await Promise.all(filled)).filter(({ pages }) => pages.length > 0);
}

async function readPage(root: string, name: string): Promise<Page | null> {
  const file = `${name}.md`;
  const text = await readFile(join(root, file), 'utf8').catch(() => null);
  if (text === null) return null;
  const [heading = '', ...rest] = text.split('\n');
  if (!heading.startsWith('# ')) throw new Error(`${file} must begin with its title`);
  const paragraph = rest.find((line) => /^(?:[A-Z]|`[^`])/.test(line)) ?? '';
  return { file, place: placeOf(name), title: heading.slice(2), summary: firstSentence(paragraph), text };
}

const firstSentence = (text: string): string =>
  text
    .replaceAll(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .split(/(?<=[.:])\s/, 1)[0]!
    .replace(/:$/, '.');
