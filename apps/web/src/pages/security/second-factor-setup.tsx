import { useQueryClient } from '@tanstack/react-query';
import { Check, Copy, Download } from 'lucide-react';
import { useState } from 'react';
import { encode } from 'uqr';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { againInWords, checkAll, checks } from '../../components/form/checks.ts';
import { useCopy } from '../../components/copy-field.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { PasswordField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure, Notice } from '../../components/notice.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { queries } from '../../queries.ts';

interface Begun {
  readonly secret: string;
  readonly otpauth_url: string;
}

/** Asks for the password, shows the secret for the app, checks a code of it, and shows the recovery codes once. */
export function SecondFactorSetup({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const [begun, setBegun] = useState<Begun>();
  const [codes, setCodes] = useState<readonly string[]>();
  const finish = (): void => {
    onClose();
    toast('The second factor is on.');
    void queryClient.invalidateQueries(queries.session);
  };
  if (codes !== undefined) {
    return (
      <Dialog title="Keep your recovery codes" onClose={finish} dismissable={false} step="codes">
        <RecoveryCodes codes={codes} onClose={finish} />
      </Dialog>
    );
  }
  if (begun !== undefined) {
    return (
      <Dialog
        title="Add Lodge to your app"
        description="Scan the QR code with your authenticator app, then enter the code it shows."
        onClose={onClose}
        step="scan"
      >
        <ScanForm begun={begun} onClose={onClose} onDone={setCodes} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Set up the second factor"
      description="First, your password again."
      onClose={onClose}
      step="password"
    >
      <PasswordForm onClose={onClose} onDone={setBegun} />
    </Dialog>
  );
}

const passwordCheck = checkAll({ password: checks.password });

function PasswordForm({ onClose, onDone }: { onClose: () => void; onDone: (begun: Begun) => void }) {
  const form = useForm({
    check: passwordCheck,
    send: (data) => api.beginTotp({ password: text(data, 'password') }),
    done: onDone,
  });
  return (
    <Form form={form} className="flex flex-col gap-4">
      <Failure error={form.failure} here={againInWords} />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="current-password"
        data-autofocus=""
        error={form.problems.password}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.pending}>
          Continue
        </Button>
      </DialogActions>
    </Form>
  );
}

const codeCheck = checkAll({ code: checks.code });

interface ScanProps {
  readonly begun: Begun;
  readonly onClose: () => void;
  readonly onDone: (codes: readonly string[]) => void;
}

function ScanForm({ begun, onClose, onDone }: ScanProps) {
  const form = useForm({
    check: codeCheck,
    send: (data) => api.confirmTotp({ code: text(data, 'code').trim() }),
    done: ({ recovery_codes: codes }) => onDone(codes),
  });
  return (
    <Form form={form} className="flex flex-col gap-5">
      <div className="flex items-center gap-5 max-sm:flex-col">
        <QrCode text={begun.otpauth_url} />
        <div className="flex min-w-0 flex-col gap-1.5 max-sm:w-full">
          <p className="text-muted">Cannot scan it? Enter this key into the app by hand:</p>
          <p data-testid="totp-secret" className="font-mono text-[0.8125rem] leading-6 break-words">
            {begun.secret.match(/.{1,4}/g)?.join(' ')}
          </p>
        </div>
      </div>
      <Failure error={form.failure} here={againInWords} />
      <TextField
        label="Code from the app"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={8}
        data-autofocus=""
        error={form.problems.code}
        className="font-mono tracking-wider"
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.pending}>
          Turn on
        </Button>
      </DialogActions>
    </Form>
  );
}

/** A QR code, dark on light in both themes, because scanners expect it. */
function QrCode({ text: content }: { text: string }) {
  const { data, size } = encode(content, { border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg
      role="img"
      aria-label="QR code for your authenticator app"
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-44 shrink-0 rounded-control border border-line bg-white"
    >
      <path d={path} className="fill-black" />
    </svg>
  );
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { copied, copy } = useCopy();
  const all = codes.join('\n');
  const Icon = copied ? Check : Copy;
  return (
    <>
      <Notice kind="warning">
        They are shown only now. Each lets you sign in once without your phone: keep them apart from it.
      </Notice>
      <ul
        aria-label="Recovery codes"
        className="grid grid-cols-2 gap-x-4 gap-y-1.5 rounded-control border border-line bg-sunken p-4 font-mono text-[0.8125rem]"
      >
        {codes.map((code) => (
          <li key={code} className="break-all">
            {code}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <Button data-autofocus="" onClick={(event) => copy(all, event.currentTarget)}>
          <Icon aria-hidden className="size-4" />
          {copied ? 'Copied' : 'Copy all'}
        </Button>
        <Button onClick={() => download('lodge-recovery-codes.txt', `${all}\n`)}>
          <Download aria-hidden className="size-4" />
          Download
        </Button>
        <span role="status" className="sr-only">
          {copied ? 'Recovery codes copied.' : ''}
        </span>
      </div>
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          I have kept them safe
        </Button>
      </DialogActions>
    </>
  );
}

function download(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
