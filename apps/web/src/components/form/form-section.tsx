import type { ComponentProps, ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Failure } from '../notice.tsx';
import { Section } from '../page.tsx';
import { Form } from './form.tsx';

interface FormSectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** The subject of the form, for whoever does not see it. */
  readonly label: string;
  readonly form: ComponentProps<typeof Form>['form'] & {
    readonly giveUp: () => void;
    readonly failure: unknown;
    readonly pending: boolean;
  };
  readonly submit: string;
  readonly onCancel?: () => void;
  readonly discard?: () => void;
  readonly children: ReactNode;
}

/** A card that is a form: fields, the reason why the last sending failed, and the buttons. */
export function FormSection({
  title,
  description,
  label,
  form,
  submit,
  onCancel,
  discard,
  children,
}: FormSectionProps) {
  return (
    <Section title={title} description={description}>
      <Form
        form={form}
        {...(discard && { discard })}
        aria-label={label}
        className="flex max-w-2xl flex-col gap-5 px-5 py-5 sm:px-6"
      >
        {children}
        <Failure error={form.failure} />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary" pending={form.pending}>
            {submit}
          </Button>
          {onCancel !== undefined && (
            <Button
              onClick={() => {
                form.giveUp();
                onCancel();
              }}
            >
              Cancel
            </Button>
          )}
        </div>
      </Form>
    </Section>
  );
}
