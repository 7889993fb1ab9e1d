import type { CreatedHook } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { TextField } from '../../../components/form/field.tsx';
import { FormSection } from '../../../components/form/form-section.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { text, useForm } from '../../../components/form/use-form.ts';
import { DeliverField } from '../answers/deliver-field.tsx';
import { checkDeliver, deliverOf } from '../answers/deliver.ts';
import type { DeliverName } from '../answers/deliver.ts';
import { hookChanges } from './queries.ts';
import { checkSignature, SignatureFields, signatureOf } from './signature-fields.tsx';
import type { SignatureName } from './signature-fields.tsx';
import { CopyField } from '../../../components/copy-field.tsx';
import { ShownOnceDialog } from '../../../components/shown/shown-once.tsx';

type Name = 'name' | SignatureName | DeliverName;

const maxTemplateChars = 8_192;

function check(data: FormData): Problems<Name> {
  const problems: Problems<Name> = { ...checkSignature(data), ...checkDeliver(data) };
  if (text(data, 'name').trim() === '') problems.name = 'Enter a name.';
  return problems;
}

/** A new hook, with what nobody is told again: its address, and the secret that was given. */
export interface MadeHook {
  readonly hook: CreatedHook;
  readonly secret: string | undefined;
}

interface FormProps {
  readonly agentId: string;
  readonly onMade: (made: MadeHook) => void;
  readonly onCancel: () => void;
}

export function HookForm({ agentId, onMade, onCancel }: FormProps) {
  const queryClient = useQueryClient();
  const form = useForm<Name, MadeHook>({
    keep: `hook:${agentId}`,
    check,
    send: async (data) => {
      const template = text(data, 'template');
      const conversation = text(data, 'conversation').trim();
      const { signature } = signatureOf(data);
      const hook = await hookChanges(agentId).create({
        name: text(data, 'name').trim(),
        ...(template.trim() === '' ? {} : { template }),
        ...(conversation === '' ? {} : { conversation }),
        deliver: deliverOf(data),
        ...(signature === undefined ? {} : { signature }),
      });
      return { hook, secret: signature?.secret };
    },
    done: (made) => {
      onMade(made);
      void queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'hooks'] });
    },
  });
  return (
    <FormSection title="New hook" label="Hook" form={form} submit="Create hook" onCancel={onCancel}>
      <TextField
        label="Name"
        name="name"
        maxLength={100}
        autoComplete="off"
        placeholder="GitHub issues"
        error={form.problems.name}
      />
      <TemplateField />
      <SignatureFields problems={form.problems} />
      <DeliverField
        agentId={agentId}
        deliver={{ to: 'none' }}
        kept="A line of it is in the agent’s log."
        problems={form.problems}
      />
      <TextField
        label="Conversation"
        optional
        name="conversation"
        maxLength={256}
        autoComplete="off"
        hint="A conversation of the agent that the messages go on with. Without it the hook has one of its own."
      />
    </FormSection>
  );
}

function TemplateField() {
  return (
    <TextAreaField
      code
      optional
      label="What the agent is told"
      name="template"
      rows={5}
      maxLength={maxTemplateChars}
      placeholder={'A new issue {{issue.number}}: {{issue.title}}\nSuggest labels for it.'}
      hint={
        <>
          <code className="font-mono">{'{{issue.title}}'}</code> puts in a field of the JSON by its path. Left empty,
          the agent gets the whole JSON.
        </>
      }
    />
  );
}

/** The address of a new hook and its secret, which are shown this once. */
export function MadeDialog({ made, onClose }: { readonly made: MadeHook; readonly onClose: () => void }) {
  const { hook, secret } = made;
  return (
    <ShownOnceDialog
      title={secret === undefined ? 'Copy the address now' : 'Copy the address and the secret now'}
      warning="This is the only time that they are shown. The address holds the hook’s token: keep it out of logs and chats."
      onClose={onClose}
    >
      <CopyField label="Address of the hook" value={hook.url} autoFocus />
      {secret !== undefined && <CopyField label="Secret that both share" value={secret} />}
      <p className="text-muted">
        Enter it at the sender, with the content type <code className="font-mono">application/json</code>
        {secret === undefined ? '.' : ' and the secret.'}
      </p>
    </ShownOnceDialog>
  );
}
