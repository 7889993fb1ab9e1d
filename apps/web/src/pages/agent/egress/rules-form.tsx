import type { Agent, Egress } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { changedParts } from '../../../components/form/changed.ts';
import { Form } from '../../../components/form/form.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import type { Choice } from '../../../components/form/choice-field.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { agentQuery } from '../queries.ts';
import { linesOf } from '../channels/access-form.ts';
import { putEgress } from './queries.ts';

const mostEntries = 100;

const modes: readonly Choice<Egress['mode']>[] = [
  { value: 'public', label: 'Every public address', meaning: 'Never this host, other agents or private networks.' },
  {
    value: 'allowlist',
    label: 'Only what the list names',
    meaning: 'Such as package registries and your own services.',
  },
  { value: 'none', label: 'Nothing', meaning: 'The agent still thinks and answers: its model is always reached.' },
];

/** The name under which the text of the form is kept. */
export const rulesDraft = (agentId: string): string => `egress:${agentId}`;

/** The rules, as a whole. */
export function RulesForm({ agent, discard }: { readonly agent: Agent; readonly discard: () => void }) {
  const { id, egress } = agent;
  const queryClient = useQueryClient();
  const [mode, setMode] = useState(egress.mode);
  const form = useForm<'allow', Agent>({
    keep: rulesDraft(id),
    check: (data) =>
      linesOf(text(data, 'allow')).length > mostEntries ? { allow: `Name at most ${mostEntries} places.` } : {},
    send: async (data, before) => {
      // Others may have changed meanwhile what nobody touched here. A list that was typed goes with its mode.
      const { egress: now } = await queryClient.fetchQuery({ ...agentQuery(id), staleTime: 0 });
      const typed = rulesOf(data);
      const parts = changedParts(rulesOf(before), typed);
      return putEgress(id, { ...now, ...('allow' in parts ? typed : parts) });
    },
    done: (saved) => {
      queryClient.setQueryData(['agent', id], saved);
      toast(saved.settings_pending ? 'The rules are saved, and take effect soon.' : 'The rules are in effect.');
    },
  });
  return (
    <Section title="Rules">
      <Form
        form={form}
        discard={discard}
        aria-label="Egress rules"
        className="flex max-w-2xl flex-col gap-5 px-5 py-5 sm:px-6"
      >
        <ChoiceField legend="The machine may reach" name="mode" value={mode} onChoose={setMode} choices={modes} />
        {mode === 'allowlist' && (
          <TextAreaField
            code
            label="Allow list"
            name="allow"
            rows={5}
            defaultValue={egress.allow.join('\n')}
            placeholder={'pypi.org\n*.github.com\n9.9.9.0/24'}
            hint="One a line: a name, *. and a name for all below it, or a public IPv4 address or block. An empty list allows nothing."
            error={form.problems.allow}
          />
        )}
        {mode !== egress.mode && mode !== 'public' && (
          <Notice kind="warning">Connections that the new rules do not allow end at once.</Notice>
        )}
        <Failure error={form.failure} />
        <div>
          <Button type="submit" variant="primary" pending={form.pending}>
            Save rules
          </Button>
        </div>
      </Form>
    </Section>
  );
}

/** The rules in the form. A list that is not shown is not among them. */
const rulesOf = (data: FormData): Partial<Egress> => ({
  mode: text(data, 'mode') as Egress['mode'],
  ...(data.has('allow') && { allow: linesOf(text(data, 'allow')) }),
});
