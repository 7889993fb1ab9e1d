import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { Loaded, SkeletonRows } from '../../components/states.tsx';
import { EntryCard } from '../../frame/entry-frame.tsx';
import { queries } from '../../queries.ts';
import { NewAccountForm } from './new-account-form.tsx';

export function RegisterPage() {
  const options = useQuery(queries.options);
  return (
    <EntryCard
      title="Create an account"
      footer={
        <>
          Have an account already?{' '}
          <Link to="/account/sign-in" className="font-medium text-accent underline underline-offset-2">
            Sign in
          </Link>
        </>
      }
    >
      <Loaded query={options} skeleton={<SkeletonRows />}>
        {({ registration_open: open }) =>
          open ? (
            <NewAccountForm email={null} action="Create account" send={api.register} />
          ) : (
            <p className="text-muted">This Lodge takes new people by invitation only. Ask its owner for one.</p>
          )
        }
      </Loaded>
    </EntryCard>
  );
}
