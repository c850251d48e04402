// The members with their standing in each pool.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../admin/schema/status.ts';
import { Panel } from './panel.tsx';

export function Members({ status: { members, pools } }: { readonly status: StatusDocument }): JSX.Element {
  return (
    <Panel title="Members">
      <table class="table">
        <thead>
          <tr>
            {['Member', 'Role', 'State', 'Timeline', ...pools.map(({ name }) => name)].map((title) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.name}>
              <th scope="row">{member.name}</th>
              <td>{member.role ?? '–'}</td>
              <td>{member.state ?? '–'}</td>
              <td>{member.timeline ?? '–'}</td>
              {pools.map(({ name }) => (
                <td key={name}>{member.pools[name]?.why ?? '–'}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
