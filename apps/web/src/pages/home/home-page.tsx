import { Page } from '../../components/page.tsx';
import { useAccount } from '../../session.ts';

/** What there is, and what needs somebody. */
export function HomePage() {
  const { name } = useAccount();
  return (
    <Page title="Home" description={<>Hello, {name}.</>}>
      {null}
    </Page>
  );
}
