/**
 * `install`: begins to install the row's packages in the running guest, or records how that has ended. The agent runs
 * meanwhile and afterwards, whatever the end. After a failure the step is due again later (`FailedApplies`).
 */
import { appendLog } from '@lodge/store/logs';
import type { InstallEnd, InstallFailure } from '@lodge/ports';
import { packagesDigest } from '../../agents/settings.ts';
import { LineCleaner } from '../../logs/lines.ts';
import type { FailedApplies } from './apply.ts';
import type { Ended, Installs } from './installs.ts';
import type { Pass } from './pass.ts';

/** A failing install costs minutes of a processor, and mostly fails again. */
export const installPauses = { firstMs: 60_000, maxMs: 60 * 60_000 };

export async function install(pass: Pass, installs: Installs, failed: FailedApplies): Promise<void> {
  const { agent, id, deps } = pass;
  const end = installs.endOf(agent);
  if (end === null) {
    await installs.end(id);
    // From here on the guest may have some of the packages, and lack some of those before.
    if (agent.packagesApplied !== null) await pass.observe({ packagesApplied: null });
    const throughHost = agent.egress.mode !== 'public' || deps.packagesThroughHost;
    installs.begin(agent, pass.guest, throughHost);
    return;
  }
  const digest = packagesDigest(agent.packages);
  if (end.kind === 'failed' || end.kind === 'unanswered') {
    const message = sentenceFor(end);
    failed.add(agent, digest);
    if (end.kind === 'failed') await writeLastLines(pass, end);
    await pass.observe({ packagesError: message, event: { type: 'agent.packages_failed', data: { message } } });
  } else {
    failed.forget(id);
    const facts = { packagesApplied: digest, packagesError: null };
    const event = { type: 'agent.packages_installed', data: { duration_ms: end.ms } } as const;
    await pass.observe(end.kind === 'there' ? facts : { ...facts, event });
  }
  installs.forget(id);
}

/** The record has sentences of Lodge's own. The words of the guest are in the agent's log alone. */
function sentenceFor(end: Ended & { readonly kind: 'failed' | 'unanswered' }): string {
  if (end.kind === 'unanswered') return 'The machine did not answer.';
  return `${end.manager} did not install its packages: ${reasonOf(end.why)}. The agent's log has its last lines.`;
}

function reasonOf(why: InstallFailure): string {
  switch (why.kind) {
    case 'disk_full':
      return "the agent's disk has too little room";
    case 'too_long':
      return `it took longer than ${why.seconds} seconds and was ended`;
    case 'ended':
      return why.status === null ? 'a signal ended it' : `it ended with status ${why.status}`;
  }
}

async function writeLastLines({ deps, id }: Pass, end: InstallEnd & { readonly kind: 'failed' }): Promise<void> {
  const cleaner = new LineCleaner();
  const lines = end.lastLines.map((line) => cleaner.clean(line)).filter((line) => line !== null);
  const entries = lines.map((line) => ({
    level: 'warn' as const,
    source: 'system' as const,
    message: `${end.manager}: ${line}`,
  }));
  await deps.database.transaction((trx) => appendLog(trx, id, entries));
}
