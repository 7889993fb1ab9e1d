import { useQueryClient } from '@tanstack/react-query';
import type { AgentMember } from '@lodge/sdk';
import { change, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { changedParts } from '../../../components/form/changed.ts';
import { Failure } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { useAgent } from '../queries.ts';

interface MemberDialogProps {
  /** Undefined: a new one. */
  readonly member?: AgentMember;
  readonly taken: readonly AgentMember[];
  readonly onClose: () => void;
}

/** The name under which the text of the dialog is kept; without a name of the one for a new member. */
export const memberDraft = (agentId: string, name = ''): string => `member:${agentId}:${name}`;

const namePattern = /^[a-z][a-z0-9-]{1,31}$/;

/** Adds a member, or changes one. A name is for good. */
export function MemberDialog({ member, taken, onClose }: MemberDialogProps) {
  const agent = useAgent();
  const form = useMemberForm(agent.id, { member, taken, onClose });
  const providers = agent.llm_keys.map(({ provider }) => provider).join(', ');
  return (
    <Dialog title={member === undefined ? 'Add member' : `Edit ${member.name}`} onClose={onClose}>
      <Form form={form} className="flex flex-col gap-5">
        {member === undefined && (
          <TextField
            label="Name"
            name="name"
            data-autofocus
            maxLength={32}
            autoCapitalize="none"
            spellCheck={false}
            hint="Lower case letters, digits and hyphens. It cannot be changed later."
            error={form.problems.name}
          />
        )}
        <TextField
          label="Model"
          name="model"
          optional
          {...(member !== undefined && { 'data-autofocus': true })}
          defaultValue={member?.model ?? ''}
          placeholder={agent.model}
          maxLength={200}
          autoCapitalize="none"
          spellCheck={false}
          hint={`Such as ${agent.model}; the agent has keys for ${providers || 'no provider'}. Empty: the agent’s own.`}
          error={form.problems.model}
        />
        <TextAreaField
          label="Instructions"
          name="instructions"
          optional
          rows={6}
          defaultValue={member?.instructions ?? ''}
          hint="Who it is and how it works."
          error={form.problems.instructions}
        />
        <Failure error={form.failure} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" pending={form.pending}>
            {member === undefined ? 'Add member' : 'Save changes'}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

interface MemberFormOptions extends Omit<MemberDialogProps, 'member'> {
  readonly member: AgentMember | undefined;
}

function useMemberForm(agentId: string, { member, taken, onClose }: MemberFormOptions) {
  const queryClient = useQueryClient();
  return useForm<'name' | 'model' | 'instructions', AgentMember>({
    keep: memberDraft(agentId, member?.name),
    check: (data) => problemsOf(data, member, taken),
    send: (data, before) => {
      const body = bodyOf(data);
      return change(() =>
        member === undefined
          ? lodge.members.create(agentId, { name: text(data, 'name').trim(), ...body })
          : lodge.members.update(agentId, member.name, changedParts(bodyOf(before), body)),
      );
    },
    done: async ({ name, pending }) => {
      onClose();
      const when = pending ? ' It is in effect when the agent runs.' : '';
      toast(`${name} is ${member === undefined ? 'a member' : 'changed'}.${when}`);
      await queryClient.invalidateQueries({ queryKey: ['agent', agentId] });
    },
  });
}

const bodyOf = (data: FormData) => ({
  model: text(data, 'model').trim() || null,
  instructions: text(data, 'instructions').trim() === '' ? null : text(data, 'instructions'),
});

const maxInstructionBytes = 32 * 1024;

function problemsOf(data: FormData, member: AgentMember | undefined, taken: readonly AgentMember[]) {
  const name = text(data, 'name').trim();
  const model = text(data, 'model').trim();
  const isTaken = taken.some((one) => one.name === name);
  const bytes = new TextEncoder().encode(text(data, 'instructions')).length;
  return {
    ...(member === undefined &&
      !namePattern.test(name) && { name: 'Use 2 to 32 lower case letters, digits and hyphens, a letter first.' }),
    ...(isTaken && { name: 'There is a member with this name.' }),
    ...(model !== '' && !model.includes('/') && { model: 'Write it as provider/model.' }),
    ...(bytes > maxInstructionBytes && { instructions: 'Instructions have up to 32 KB.' }),
  };
}
