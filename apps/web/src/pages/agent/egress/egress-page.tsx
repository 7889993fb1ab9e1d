import type { Egress } from '@lodge/sdk';
import { Code } from '../../../components/badge.tsx';
import { useFormKey } from '../../../components/form/use-typed.ts';
import { Notice } from '../../../components/notice.tsx';
import { Section, TabPage } from '../../../components/page.tsx';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { RefusedSection } from './refused-section.tsx';
import { rulesDraft, RulesForm } from './rules-form.tsx';

export function EgressPage() {
  const agent = useAgent();
  const mayChange = useMay('agents:write');
  const { egress } = agent;
  // Rules that came from elsewhere replace those with which the form began, unless something is typed.
  const [formKey, discard] = useFormKey(egress, rulesDraft(agent.id));
  return (
    <TabPage
      width="wide"
      title="Egress"
      description="What the agent’s machine may reach. Its model and its connections are always reached."
    >
      {agent.settings_pending && (
        <Notice kind="info">
          The machine has yet to take the settings over: within seconds while it runs, else at its next start.
        </Notice>
      )}
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)]">
        {mayChange ? <RulesForm key={formKey} agent={agent} discard={discard} /> : <Rules egress={egress} />}
        <RefusedSection agent={agent} mayChange={mayChange} />
      </div>
    </TabPage>
  );
}

const modeWords: Readonly<Record<Egress['mode'], string>> = {
  public: 'Every public address.',
  allowlist: 'What this list names, and nothing else:',
  none: 'Nothing but its model.',
};

function Rules({ egress: { mode, allow } }: { readonly egress: Egress }) {
  return (
    <Section title="Rules">
      <div className="flex flex-col gap-3 px-5 py-5 sm:px-6">
        <p>{modeWords[mode]}</p>
        {mode === 'allowlist' && allow.length === 0 && <p className="text-muted">The list is empty.</p>}
        {allow.length > 0 && (
          <ul aria-label="Allow list" className="flex flex-wrap gap-1.5">
            {allow.map((entry) => (
              <li key={entry}>
                <Code>{entry}</Code>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Section>
  );
}
