import type { Pass } from '../reconcile/pass.ts';

/** From this write on the VM that was suspended for the upgrade is the agent again; the next pass takes it back and starts it. */
export async function giveUp(pass: Pass, why: string): Promise<void> {
  const message = `The agent was not upgraded: ${why}. It goes on as it was.`;
  await pass.observe({
    status: 'provisioning',
    statusReason: { code: 'upgrade_failed', message, at: new Date() },
    vmAddress: null,
    operation: null,
    log: pass.say('warn', message),
  });
}
