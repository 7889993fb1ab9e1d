import { parseArgs } from 'node:util';
import type { Log } from '@lodge/ports';
import { readConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { hostFacts, lookAtHost } from '../host/weaknesses/table.ts';
import { commandLog, say } from './command.ts';
import type { Command } from './command.ts';
import { agentsSection, countPeople } from './doctor/agents.ts';
import type { Finding, Section } from '../host/finding.ts';
import { lodgeSection, networkSection, virtualisationSection } from './doctor/lodge.ts';
import { machineSection, programsSection } from './doctor/machine.ts';
import { savedSection } from './doctor/saved.ts';

const marks: Readonly<Record<Finding['state'], string>> = { ok: 'ok  ', note: 'note', warn: 'WARN', fail: 'FAIL' };

/**
 * Changes nothing that a start would not. Exit code 1 when a check fails: Lodge cannot run, or must not continue like this.
 */
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
    () => savedSection(config, log),
    () => weaknessesSection(config, log),
  ];
  for (const part of parts) {
    const section = await part();
    sections.push(section);
    if (!values.json) print(section);
  }
  const all = sections.flatMap(({ findings }) => findings);
  const namesOf = (state: Finding['state']): string[] =>
    all.filter((each) => each.state === state).map(({ name }) => name);
  const [failures, warnings] = [namesOf('fail'), namesOf('warn')];
  if (values.json) say(JSON.stringify({ ok: failures.length === 0, sections }, null, 2));
  else {
    say(failures.length === 0 ? '\nLodge can run here.' : `\nMissing: ${failures.join(', ')}.`);
    if (warnings.length > 0) say(`Weak: ${warnings.join(', ')}.`);
  }
  return failures.length === 0 ? 0 : 1;
};

/** Lists what makes this Lodge weaker than it can be; each start logs the same. */
async function weaknessesSection(config: Config, log: Log): Promise<Section> {
  const people = await countPeople(config, log);
  return { title: 'Weaknesses', findings: await lookAtHost(await hostFacts(config, people)) };
}

function print({ title, findings }: Section): void {
  say(`\n${title}`);
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, state, detail, advice } of findings) {
    say(`  ${marks[state]}  ${name.padEnd(width)}  ${detail}`);
    if (advice !== null) say(`        ${' '.repeat(width)}  -> ${advice}`);
  }
}
