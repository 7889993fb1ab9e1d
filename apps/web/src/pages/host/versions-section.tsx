import type { Host } from '@lodge/sdk';
import { Badge, Code } from '../../components/badge.tsx';
import type { Tone } from '../../components/badge.tsx';
import { Section } from '../../components/page.tsx';
import { OutwardLink } from '../../components/shown/links.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber } from '../../format.ts';

type Template = Host['templates'][number];
type Runtime = Host['versions']['runtimes'][number];

const states: Readonly<Record<Template['state'], readonly [Tone, string]>> = {
  building: ['warning', 'Being made'],
  early: ['good', 'Ready, warming up'],
  ready: ['good', 'Ready'],
  failed: ['bad', 'Failed'],
};

/** Lodge and the runtimes of agents, with what is newer here than what agents have. */
export function VersionsSection({ host: { versions, templates } }: { host: Host }) {
  return (
    <Section title="Versions & templates" description="Agents are cloned from the template of their runtime.">
      <ul className="divide-y divide-line">
        <li className="flex flex-col gap-1.5 px-5 py-4 sm:px-6">
          <h3 className="font-medium">
            Lodge <span className="font-normal text-muted tabular-nums">{versions.lodge}</span>
          </h3>
          <p className="text-[0.8125rem] text-pretty text-muted">
            Lodge asks no other server for newer releases: <Command>npm run lodge -- upgrade</Command> on this machine
            brings the newest one, while agents run on. In a container, a newer image does.{' '}
            <OutwardLink href="/docs/guides/operating#upgrading">How to upgrade</OutwardLink>
          </p>
        </li>
        {versions.runtimes.map((runtime, index) => (
          <RuntimeRow
            // Two kinds of a test have one name.
            key={`${runtime.runtime} ${index}`}
            runtime={runtime}
            template={templates.find((template) => template.runtime === runtime.runtime)}
          />
        ))}
        <li className="px-5 py-4 text-[0.8125rem] text-pretty text-muted sm:px-6">
          <Command>npm run lodge -- runtimes update</Command> looks for newer versions of the runtimes, tests them here,
          and offers those that pass.
        </li>
      </ul>
    </Section>
  );
}

/** A command in one piece: its flags are not torn apart. */
function Command({ children }: { children: string }) {
  return (
    <span className="whitespace-nowrap">
      <Code>{children}</Code>
    </span>
  );
}

function RuntimeRow({ runtime, template }: { runtime: Runtime; template: Template | undefined }) {
  const { runtime: name, current, newest, outdated_agents: outdated } = runtime;
  return (
    <li className="flex flex-col gap-1.5 px-5 py-4 sm:px-6">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <h3 className="font-medium">
          {name} <span className="font-normal text-muted tabular-nums">{current}</span>
        </h3>
        <span className="flex flex-wrap gap-2">
          {outdated > 0 && <Badge tone="warning">Update available</Badge>}
          {template !== undefined && <Badge tone={states[template.state][0]}>{states[template.state][1]}</Badge>}
        </span>
      </div>
      {template?.state === 'building' && <Progress template={template} />}
      <p className="text-[0.8125rem] text-muted">
        {newest !== null && current !== null && newest !== current && `New agents get ${current}. `}
        {outdated > 0
          ? `${formatNumber(outdated)} ${outdated === 1 ? 'agent' : 'agents'} can be upgraded${newest === null ? '' : ` to ${newest}`}, each on its page Settings.`
          : 'Every agent has the newest version that is installed here.'}
      </p>
    </li>
  );
}

function Progress({ template: { step, fraction, since } }: { template: Template }) {
  return (
    <div className="flex flex-col gap-1.5 text-[0.8125rem] text-muted">
      {fraction !== null && (
        <div aria-hidden className="h-1.5 overflow-hidden rounded-full bg-hover">
          <div className="h-full bg-accent" style={{ width: `${fraction * 100}%` }} />
        </div>
      )}
      <p className="wrap-anywhere first-letter:uppercase">
        {step}
        {fraction !== null && ` (${Math.floor(fraction * 100)}%)`} · begun <Time value={since} />
      </p>
    </div>
  );
}
