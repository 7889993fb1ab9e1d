import type { Host } from '@lodge/sdk';
import { Badge } from '../../components/badge.tsx';
import type { Tone } from '../../components/badge.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber } from '../../format.ts';

type Template = Host['templates'][number];

const states: Readonly<Record<Template['state'], readonly [Tone, string]>> = {
  building: ['warning', 'Being made'],
  early: ['good', 'Ready, warming up'],
  ready: ['good', 'Ready'],
  failed: ['bad', 'Failed'],
};

export function VersionsSection({ host: { versions, templates } }: { host: Host }) {
  return (
    <Section title="Versions & templates" description={`Lodge ${versions.lodge}. Agents are cloned from templates.`}>
      <ul className="divide-y divide-line">
        {versions.runtimes.map(({ runtime, current, newest, outdated_agents: outdated }) => (
          <li key={runtime} className="flex flex-col gap-2 px-5 py-4 sm:px-6">
            <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
              <h3 className="font-medium">
                {runtime} <span className="font-normal text-muted tabular-nums">{current}</span>
              </h3>
              {templates
                .filter((template) => template.runtime === runtime)
                .map((template) => (
                  <State key={template.runtime} template={template} />
                ))}
            </div>
            {newest !== null && newest !== current && (
              <p className="text-[0.8125rem] text-muted">Version {newest} is installed; upgrades bring it.</p>
            )}
            <p className="text-[0.8125rem] text-muted">
              {outdated === 0
                ? 'Every agent has the newest version that is installed here.'
                : `${formatNumber(outdated)} ${outdated === 1 ? 'agent' : 'agents'} can be upgraded.`}
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function State({ template: { state, step, fraction, since } }: { template: Template }) {
  const [tone, name] = states[state];
  return (
    <span className="flex flex-wrap items-center justify-end gap-2 text-[0.8125rem] text-muted">
      {state === 'building' && (
        <span className="wrap-anywhere">
          {step}
          {fraction !== null && `, ${Math.floor(fraction * 100)} %`} · since <Time value={since} />
        </span>
      )}
      <Badge tone={tone}>{name}</Badge>
    </span>
  );
}
