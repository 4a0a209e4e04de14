import { Link } from "react-router";

export const headers = () => ({
  "Cache-Control": "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400",
});

export const meta = () => [{ title: "Walks at dawn" }];

const WALKS = [
  { date: "2027-03-20", day: "20 March", start: "05:40", sunrise: "06:11", places: 12 },
  { date: "2027-06-19", day: "19 June", start: "04:10", sunrise: "04:43", places: 8 },
  { date: "2027-08-21", day: "21 August", start: "05:30", sunrise: "06:04", places: 12 },
];

/** Without classes: the layout styles the elements. */
export default function Walks() {
  return (
    <main>
      <h1>Walk into the morning</h1>
      <p>Three times a year we climb the hill in the dark, and watch the sun rise over the town.</p>
      <p>
        The path is <strong>four kilometres</strong> long and easy. We walk slowly, and <em>in silence</em> for the last
        part. To come along, <Link to="/example-pages/book">book a place</Link>.
      </p>

      <h2>When we start</h2>
      <table>
        <caption>Walks in 2027</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Start</th>
            <th scope="col">Sunrise</th>
            <th scope="col">Places</th>
          </tr>
        </thead>
        <tbody>
          {WALKS.map(({ date, day, start, sunrise, places }) => (
            <tr key={date}>
              <th scope="row">
                <time dateTime={date}>{day}</time>
              </th>
              <td>{start}</td>
              <td>{sunrise}</td>
              <td>{places}</td>
            </tr>
          ))}
        </tbody>
      </table>

      <h2>What to bring</h2>
      <ul>
        <li>Warm clothes in layers</li>
        <li>
          A lamp, with a red light:
          <ul>
            <li>at the forehead, to keep your hands free</li>
            <li>switched off at the top</li>
          </ul>
        </li>
        <li>Tea</li>
      </ul>
      <blockquote>
        <p>Nobody spoke, and then everybody did.</p>
      </blockquote>

      <h3>On the way</h3>
      <ol>
        <li>Meet at the old mill.</li>
        <li>
          Press <kbd>Enter</kbd> at the gate, and type <code>dawn</code>.
        </li>
        <li>Follow the guide.</li>
      </ol>
      <pre>
        <code>{"47.3769 N\n 8.5417 E"}</code>
      </pre>
      <details>
        <summary>What if it rains?</summary>
        <p>We walk anyway. If there is a storm, we write to you the evening before.</p>
      </details>
      <hr />
      <p>
        <small>Children walk for free.</small>
      </p>
    </main>
  );
}
