/**
 * `lodge export`: writes agents as files that `apply` takes. Secrets are never given back, so each is a placeholder: a variable
 * to set, with the last characters of the stored secret beside it.
 */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Agent, Lodge, Webhook } from '@lodge/sdk';
import { agentOf } from '../../agent-of.ts';
import { usageError } from '../../failure.ts';
import type { Run } from '../../run.ts';
import { withProgress } from '../../terminal/progress.ts';
import { quoted, safeLine } from '../../terminal/safe.ts';
import { presentValues, runtimeOf } from '../agent-fields.ts';
import { StoredSecret, isMap } from '../diff.ts';
import { downloadWorkspace } from './download.ts';
import { pooled } from '../pool.ts';
import { sections } from '../section-table.ts';
import type { Present, Section } from '../sections.ts';
import { skillInFile } from '../skills-section.ts';
import { Placeholder, yamlText } from './write.ts';
import type { Values } from '../file/wanted.ts';

export interface ExportOptions {
  readonly label?: Readonly<Record<string, string>>;
  readonly output?: string;
  readonly files?: true;
  readonly webhooks?: true;
  readonly force?: true;
}

const parallelReads = 6;
const usualFile = 'agents.yaml';

export async function exportAgents(run: Run, options: ExportOptions, named: readonly string[]): Promise<void> {
  const lodge = await run.lodge();
  const agents = await chosen(run, lodge, options, named);
  const folder = await folderOf(options);
  if (options.files && folder === null) throw usageError('--files needs a folder: -o FOLDER');
  await checkFree(options, folder);
  const document = await withProgress(run.out, 'Reading agents', async (progress) => {
    const read = await pooled(agents, parallelReads, run.signal, (agent) => agentValues(run, lodge, agent));
    if (options.files)
      for (const [at, agent] of agents.entries()) {
        progress.say(`Reading files of ${safeLine(agent.name, 60)}`);
        const to = folderName(agent, agents);
        const left = await downloadWorkspace(lodge, agent, join(folder!, to), run.call);
        if (left > 0) run.out.note(`${safeLine(agent.name, 60)}: ${left} links and special files are left out.`);
        read[at] = { ...read[at], files: [{ from: `./${to}`, to: '/' }] };
      }
    const webhooks = options.webhooks ? (await lodge.webhooks.list(run.call)).data.map(webhookValues) : undefined;
    return {
      version: 1,
      agents: new Variables().placed(withPeerNames(read, agents), []),
      ...(webhooks && { webhooks }),
    };
  });
  const text = await yamlText(document);
  if (options.output === undefined) return run.out.write(text);
  const path = folder === null ? options.output : join(folder, usualFile);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  run.out.note(`Wrote ${agents.length === 1 ? 'an agent' : `${agents.length} agents`} to ${safeLine(path)}.`);
}

async function chosen(run: Run, lodge: Lodge, { label }: ExportOptions, named: readonly string[]): Promise<Agent[]> {
  if (named.length > 0) {
    if (label !== undefined) throw usageError('Name agents or give -l, not both.');
    const agents: Agent[] = [];
    for (const name of named) agents.push(await agentOf(run, name));
    return agents;
  }
  const agents: Agent[] = [];
  const query = { limit: 100, order: 'asc' as const, ...(label && { label }) };
  for await (const agent of lodge.agents.list(query, run.call)) agents.push(agent);
  if (agents.length === 0) run.out.note('There are no such agents.');
  return agents;
}

/** A name that ends with a slash, or is a folder already, is one. */
async function folderOf({ output, files }: ExportOptions): Promise<string | null> {
  if (output === undefined) return null;
  if (files || output.endsWith('/')) return output;
  return (await stat(output).catch(() => null))?.isDirectory() ? output : null;
}

async function checkFree({ output, force }: ExportOptions, folder: string | null): Promise<void> {
  if (output === undefined || force) return;
  const path = folder === null ? output : join(folder, usualFile);
  if (await stat(path).catch(() => null))
    throw usageError(`${quoted(path)} is there already.`, 'Give --force to write over it.');
}

async function agentValues(run: Run, lodge: Lodge, agent: Agent): Promise<Values> {
  const { name, model, description, size, labels, metadata, lifecycle, ...rest } = presentValues(agent);
  const listed: Record<string, unknown> = {};
  const runtime = runtimeOf(agent);
  for (const section of sections) {
    if (section.runtimes?.includes(runtime) === false) continue;
    const present = await section.list(lodge, agent.id, run.call);
    if (present.length > 0) listed[section.field] = inFile(section, present);
  }
  const { skills, ...lists } = listed;
  const { llm_keys, egress, packages, dashboard, browser, ...others } = rest;
  const values = withoutEmpty({
    name,
    runtime,
    model,
    size,
    description,
    labels,
    metadata,
    lifecycle,
    ...others,
    egress: (egress as Values)['mode'] === 'public' ? undefined : egress,
    packages: someOf(packages as Values),
    dashboard: dashboard === true ? true : undefined,
    browser: browser === true ? true : undefined,
    peers: agent.peers,
    llm_keys,
    ...lists,
    state: agent.status === 'stopped' ? 'stopped' : undefined,
  });
  // Empty lists of rules and of a skill's members are not left out: they say something.
  return {
    ...values,
    ...(agent.confirmations !== null && { confirmations: agent.confirmations }),
    ...(skills !== undefined && { skills }),
  };
}

/** The lists that are not empty; undefined when all are. */
function someOf(lists: Values): Values | undefined {
  const some = Object.entries(lists).filter(([, list]) => (list as readonly string[]).length > 0);
  return some.length === 0 ? undefined : Object.fromEntries(some);
}

/** Channels and connections are maps in the file; the other sections are lists. */
function inFile({ field }: Section, present: readonly Present[]): unknown {
  const entries = present.map(({ name, values }) => [name, givable(values)] as const);
  switch (field) {
    case 'channels':
    case 'connections':
      return Object.fromEntries(entries);
    case 'ports':
      return entries.map(([port, values]) => ({ port: Number(port), ...values }));
    case 'skills':
      return present.map(({ name, values }) => ({ name, ...skillInFile(values) }));
    case 'members':
    case 'schedules':
    case 'hooks':
      return entries.map(([name, values]) => ({ name, ...values }));
  }
}

/** Agents of the file are named; others are known by their ids. */
function withPeerNames(read: readonly Values[], agents: readonly Agent[]): Values[] {
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  const isOnce = (name: string): boolean => agents.filter((agent) => agent.name === name).length === 1;
  return read.map((values, at) => {
    const agent = agents[at]!;
    const peers = (values['peers'] as readonly string[] | undefined)?.map((id) => {
      const name = names.get(id);
      return name !== undefined && isOnce(name) ? name : id;
    });
    const pinned = isOnce(agent.name) ? {} : { id: agent.id };
    return { ...pinned, ...values, ...(peers && { peers }) };
  });
}

const webhookValues = ({ url, events, description, enabled }: Webhook): Values =>
  withoutEmpty({ url, events, description: description === '' ? undefined : description, enabled });

/** Gives each secret a variable of its own. */
class Variables {
  readonly #taken = new Set<string>();

  /** Returns the value with a variable in the place of each stored secret; its name is made of the names on the way. */
  placed(value: unknown, words: readonly string[]): unknown {
    if (value instanceof StoredSecret) return new Placeholder(this.#free(words), value.stored.last4);
    if (Array.isArray(value)) return value.map((each) => this.placed(each, nameIn(each, words)));
    if (!isMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, this.placed(inner, unsaid.has(key) ? words : [...words, key])]),
    );
  }

  #free(words: readonly string[]): string {
    const name = words.map(variable).join('_');
    const first = /^\d/.test(name) ? `_${name}` : name;
    let free = first;
    for (let number = 2; this.#taken.has(free); number += 1) free = `${first}_${number}`;
    this.#taken.add(free);
    return free;
  }
}

/** Fields that tell nothing in the name of a variable. */
const unsaid = new Set(['agents', 'llm_keys', 'channels', 'connections', 'headers', 'hooks']);
const maxVariableChars = 40;

const nameIn = (value: unknown, words: readonly string[]): readonly string[] =>
  isMap(value) && typeof value['name'] === 'string' ? [...words, value['name']] : words;
const variable = (name: string): string =>
  name
    .slice(0, maxVariableChars)
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '_');

/** Returns what a request could have: the API answers fields, too, that others of its kind have. */
function givable({ allow, tools, kind, signature, ...rest }: Values): Values {
  const checked =
    isMap(signature) && signature['type'] !== 'hmac'
      ? { type: signature['type'], secret: signature['secret'] }
      : signature;
  const ofKind = kind === undefined ? {} : kind === 'http' ? { kind, allow } : { kind, tools };
  return { ...ofKind, ...rest, signature: checked };
}

function withoutEmpty(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== null && !isEmpty(value))
      .map(([key, value]) => [key, filled(value)]),
  );
}

const filled = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(filled) : isMap(value) ? withoutEmpty(value) : value;
const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;

/** A folder of an agent: its name where it can be one, else its id. */
export function folderName({ id, name }: Agent, agents: readonly Agent[]): string {
  const isOnce = agents.filter((agent) => agent.name.toLowerCase() === name.toLowerCase()).length === 1;
  return isOnce && /^[a-z0-9][a-z0-9_-]{0,60}$/i.test(name) ? name : id;
}
