import type { Agent, Egress } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import type { Choice } from '../../../components/form/choice-field.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { linesOf } from '../channels/access-form.ts';
import { putEgress } from './queries.ts';

const mostEntries = 100;

const modes: readonly Choice<Egress['mode']>[] = [
  { value: 'public', label: 'Every public address', meaning: 'Never this host, other agents or private networks.' },
  { value: 'allowlist', label: 'What the list names, and nothing else' },
  { value: 'none', label: 'Nothing', meaning: 'The agent still thinks and answers: its model is always reached.' },
];

/** The rules, as a whole. */
export function RulesForm({ agent }: { readonly agent: Agent }) {
  const { id, egress } = agent;
  const queryClient = useQueryClient();
  const [mode, setMode] = useState(egress.mode);
  const form = useForm<'allow', Agent>({
    check: (data) =>
      linesOf(text(data, 'allow')).length > mostEntries ? { allow: `Name at most ${mostEntries} places.` } : {},
    send: (data) => putEgress(id, { mode, allow: linesOf(text(data, 'allow')) }),
    done: (saved) => {
      queryClient.setQueryData(['agent', id], saved);
      toast(saved.settings_pending ? 'The rules are saved, and take effect soon.' : 'The rules are in effect.');
    },
  });
  return (
    <Section title="What the agent’s machine may reach">
      <form {...form.props} aria-label="Egress rules" className="flex max-w-2xl flex-col gap-5 px-5 py-5 sm:px-6">
        <ChoiceField legend="Egress" name="mode" value={mode} onChoose={setMode} choices={modes} />
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
      </form>
    </Section>
  );
}
