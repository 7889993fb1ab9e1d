/**
 * One pass over one agent: reads the row and the host, takes the one step that the domain names, and writes its outcome.
 *
 *        row (desired, status, operation) ──┐
 *                                           ├──> nextStep ──> one step ──> observe (status, operation: null, log)
 *        host (VM by execution) ────────────┘
 *
 * The pass holds the agent's lease and renews it while it works. Every write is guarded by the row's generation and the
 * lease (`observeAgent`), so an overtaken decision changes nothing. An operation ends in the same write as the status
 * that it led to. So whatever is killed in between, the next pass sees the operation and goes on with it; each step's file
 * says what a kill leaves. When the database is away the pass throws and is repeated, and the VM stays as it was.
 */
import { nextStep } from '@lodge/domain';
import type { Step } from '@lodge/domain';
import type { VmObservation } from '@lodge/ports';
import { findAgent, leaseAgent, releaseAgent } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { observeAgent } from '../observing.ts';
import { packagesDigest, settingsDigest, skillsDigest } from '../../agents/settings.ts';
import { apply, applyPauses, FailedApplies } from './apply.ts';
import { boot, clone, restore } from './bring-up.ts';
import type { ReconcilerDeps } from './deps.ts';
import { failAfterDeath, free, recordStatus, remove } from './end.ts';
import { freeze, thaw } from './freeze.ts';
import { load } from './load.ts';
import { install, installPauses } from './install.ts';
import { Overtaken, Pass } from './pass.ts';
import { placeSkills } from './place-skills.ts';
import { resize, ResizesTried } from './resize.ts';
import { restart } from './restart.ts';
import { restrict } from './restrict.ts';
import { BrowsersShown, showBrowser } from './show-browser.ts';
import { suspend } from './suspend.ts';
import { goBack } from '../../saved/go-back.ts';
import { save } from '../../saved/save.ts';
import { dropBackup } from '../upgrade/move-in.ts';
import { rollBack, upgrade } from '../upgrade/upgrade.ts';

const leaseTtlMs = 30_000;
const leaseRenewMs = 10_000;

export function createAgentReconciler(deps: ReconcilerDeps): (id: string, signal: AbortSignal) => Promise<void> {
  const tries: Tries = {
    resizes: new ResizesTried(),
    applies: new FailedApplies(applyPauses),
    installs: new FailedApplies(installPauses),
    skills: new FailedApplies(applyPauses),
    browsers: new BrowsersShown(),
  };
  const { resizes, applies } = tries;
  const fits = (agent: AgentRow): boolean => {
    const digest = settingsDigest(deps.runtimes.get(agent.runtimeKind)!, deps.settingsOf(agent));
    return agent.settingsApplied === digest || applies.waits(agent, digest);
  };
  const packagesFit = (agent: AgentRow): boolean => {
    const digest = packagesDigest(agent.packages);
    if (agent.packagesApplied === digest || deps.installs === null) return true;
    return deps.installs.isRunning(agent) || tries.installs.waits(agent, digest);
  };
  const skillsFit = (agent: AgentRow): boolean => {
    const digest = skillsDigest(agent);
    return agent.skillsApplied === digest || tries.skills.waits(agent, digest);
  };
  const look = async (id: string): Promise<Look | null> => {
    const [agent, vm] = await Promise.all([findAgent(deps.database, id), deps.driver.inspect(id)]);
    if (!agent) for (const tried of [...Object.values(tries), deps.installs, deps.rulesPut]) tried?.forget(id);
    if (!agent || !isOurs(agent, vm, deps.holder)) return null;
    const fit = {
      settingsFit: fits(agent),
      egressFit: deps.rulesPut.has(agent),
      packagesFit: packagesFit(agent),
      skillsFit: skillsFit(agent),
      browserFit: tries.browsers.fits(agent),
    };
    const step = nextStep({ ...agent, ...fit, trouble: deps.trouble(id) }, vm, new Date());
    const tried = step.do === 'resize' && resizes.has(agent);
    return { agent, vm, step: tried ? { do: 'nothing' } : step };
  };
  return async (id, stop) => {
    const first = await look(id);
    if (first === null || (first.step.do === 'nothing' && isPlaced(first.agent))) return;
    if (!(await leaseAgent(deps.database, id, deps.holder, leaseTtlMs))) return;
    try {
      // The earlier holder of the lease may have changed everything since.
      const seen = await look(id);
      if (seen !== null) await act(deps, seen, stop, tries);
    } finally {
      await releaseAgent(deps.database, id, deps.holder);
    }
  };
}

/** Steps that this process has tried and does not try again at once. */
interface Tries {
  readonly resizes: ResizesTried;
  readonly applies: FailedApplies;
  readonly installs: FailedApplies;
  readonly skills: FailedApplies;
  readonly browsers: BrowsersShown;
}

/** Steps in a running guest, beside which an install goes on. */
const besideInstalls: ReadonlySet<Step['do']> = new Set([
  'install',
  'restrict',
  'show-browser',
  'apply',
  'place-skills',
  'resize',
  'record-status',
]);

interface Look {
  readonly agent: AgentRow;
  readonly vm: VmObservation | null;
  readonly step: Step;
}

/** Takes the step for as long as it is wanted, with the lease held and renewed. */
async function act(deps: ReconcilerDeps, { agent, vm, step }: Look, stop: AbortSignal, tries: Tries): Promise<void> {
  const { database, holder, log } = deps;
  const { id, generation } = agent;
  // The row is from a time before hosts were recorded, and the agent is here.
  if (!isPlaced(agent)) await observeAgent(database, id, generation, holder, { host: holder });
  if (step.do === 'nothing') return;
  // Nothing may be at work in a guest whose machine is about to stop, and no other machine takes the end of this one's install.
  if (!besideInstalls.has(step.do)) await deps.installs?.end(id);
  const overtaken = watchGeneration(deps, agent);
  const renewal = setInterval(() => {
    leaseAgent(database, id, holder, leaseTtlMs).catch((error: unknown) => {
      log.warn({ err: error, agent_id: id }, 'lease not renewed');
    });
  }, leaseRenewMs).unref();
  try {
    await takeStep(step, new Pass(deps, agent, vm, AbortSignal.any([stop, overtaken.signal])), tries);
  } catch (error) {
    // The change that overtook this pass has already woken the next one.
    if (overtaken.signal.aborted || (error instanceof Overtaken && (await isOvertaken(deps, agent)))) return;
    throw error;
  } finally {
    clearInterval(renewal);
    overtaken.close();
  }
}

async function takeStep(
  step: Exclude<Step, { do: 'nothing' }>,
  pass: Pass,
  { resizes, applies, installs, skills, browsers }: Tries,
): Promise<void> {
  switch (step.do) {
    case 'delete':
      return remove(pass);
    case 'clone':
      return clone(pass);
    case 'boot':
      return boot(pass, step);
    case 'restore':
      return restore(pass);
    case 'load':
      return load(pass);
    case 'freeze':
      return freeze(pass, step);
    case 'thaw':
      return thaw(pass);
    case 'suspend':
      return suspend(pass);
    case 'restart':
      return restart(pass, step);
    case 'save':
      return save(pass);
    case 'go-back':
      return goBack(pass);
    case 'upgrade':
      return upgrade(pass);
    case 'roll-back':
      return rollBack(pass);
    case 'drop-backup':
      return dropBackup(pass);
    case 'free':
      return free(pass, step.status);
    case 'record-status':
      return recordStatus(pass, step.status);
    case 'restrict':
      return restrict(pass);
    case 'show-browser':
      return showBrowser(pass, browsers);
    case 'apply':
      return apply(pass, applies);
    case 'place-skills':
      return placeSkills(pass, skills);
    case 'install':
      return install(pass, pass.deps.installs!, installs);
    case 'resize':
      return resize(pass, resizes);
    case 'fail':
      return failAfterDeath(pass, step);
  }
}

/** Whether this control plane drives the agent: its disk is here, or there is none yet. */
function isOurs(agent: AgentRow, vm: VmObservation | null, holder: string): boolean {
  if (agent.host !== null) return agent.host === holder;
  return !agent.acknowledged || agent.desired === 'deleted' || vm !== null;
}

const isPlaced = ({ host, acknowledged, desired }: AgentRow): boolean =>
  host !== null || !acknowledged || desired === 'deleted';

async function isOvertaken({ database }: ReconcilerDeps, agent: AgentRow): Promise<boolean> {
  return (await findAgent(database, agent.id))?.generation !== agent.generation;
}

/** Aborts `signal` once the agent's desired state differs from that at the beginning of the pass. */
function watchGeneration(deps: ReconcilerDeps, agent: AgentRow): { readonly signal: AbortSignal; close(): void } {
  const abort = new AbortController();
  const look = (): void => {
    isOvertaken(deps, agent).then(
      (is) => {
        if (is) abort.abort(new Overtaken());
      },
      (error: unknown) =>
        deps.log.warn({ err: error, agent_id: agent.id }, 'could not look whether a pass is overtaken'),
    );
  };
  const close = deps.changes.on('agent_changed', (id) => {
    if (id === null || id === agent.id) look();
  });
  // Without this look, a change between the read of the row and the subscription would go unseen.
  look();
  return { signal: abort.signal, close };
}
