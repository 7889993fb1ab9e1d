import { parseArgs } from 'node:util';
import { readConfig } from '../config/config.ts';
import { commandLog, say } from './command.ts';
import type { Command } from './command.ts';
import { agentsSection } from './doctor/agents.ts';
import type { Finding, Section } from './doctor/finding.ts';
import { lodgeSection, networkSection, virtualisationSection } from './doctor/lodge.ts';
import { machineSection, programsSection } from './doctor/machine.ts';

const marks: Readonly<Record<Finding['state'], string>> = { ok: 'ok  ', note: 'note', lack: 'LACK' };

/** Changes nothing that a start would not. Exit code 1 when something is missing that Lodge needs. */
export const doctor: Command = async (args, env) => {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } });
  const config = readConfig(env);
  const log = commandLog(env);
  const sections: Section[] = [];
  const parts = [
    () => machineSection(config),
    programsSection,
    () => networkSection(config),
    () => virtualisationSection(config, log),
    () => lodgeSection(config, log),
    () => agentsSection(config, log, values.json),
  ];
  for (const part of parts) {
    const section = await part();
    sections.push(section);
    if (!values.json) print(section);
  }
  const lacks = sections.flatMap(({ findings }) => findings).filter(({ state }) => state === 'lack');
  if (values.json) say(JSON.stringify({ ok: lacks.length === 0, sections }, null, 2));
  else say(lacks.length === 0 ? '\nLodge can run here.' : `\nMissing: ${lacks.map(({ name }) => name).join(', ')}.`);
  return lacks.length === 0 ? 0 : 1;
};

function print({ title, findings }: Section): void {
  say(`\n${title}`);
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, state, detail, advice } of findings) {
    say(`  ${marks[state]}  ${name.padEnd(width)}  ${detail}`);
    if (advice !== null) say(`        ${' '.repeat(width)}  -> ${advice}`);
  }
}
