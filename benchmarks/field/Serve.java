import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What the problems call when they reach an error. */
class Errors {
    static void __VERIFIER_error(int number) {
        throw new IllegalStateException("error_" + number);
    }
}

/**
 * A problem of RERS behind a socket: each connection is a fresh one. A line is an input, and a line comes back: the
 * outputs, that the input is invalid, or the error, after which the connection ends; "ping" is answered by itself.
 *
 * "Serve NAME" prints the port and serves; "Serve NAME DEPTH STATES" prints the shortest ways to errors instead.
 */
class Serve {
    static final ByteArrayOutputStream PRINTED = new ByteArrayOutputStream();
    static final PrintStream REAL = System.out;

    static Class<?> problem;
    static Method step;
    static List<Field> fields = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        problem = Class.forName(arguments[0]);
        step = problem.getDeclaredMethod("calculateOutput", String.class);
        step.setAccessible(true);
        for (Field each : problem.getDeclaredFields()) {
            if (!Modifier.isStatic(each.getModifiers()) && !each.getName().equals("inputs")) {
                each.setAccessible(true);
                fields.add(each);
            }
        }
        System.setOut(new PrintStream(PRINTED, true));
        if (arguments.length > 1) {
            search(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        } else {
            serve();
        }
    }

    static Object fresh() throws Exception {
        var made = problem.getDeclaredConstructor();
        made.setAccessible(true);
        return made.newInstance();
    }

    static String answer(Object state, String input) throws Exception {
        PRINTED.reset();
        String more = "";
        try {
            step.invoke(state, input);
        } catch (InvocationTargetException error) {
            Throwable cause = error.getCause();
            if (cause instanceof IllegalArgumentException) {
                more = "invalid";
            } else if (cause instanceof IllegalStateException) {
                return cause.getMessage();
            } else {
                throw error;
            }
        }
        String printed = PRINTED.toString().strip().replaceAll("\\s+", " ");
        return (printed + " " + more).strip();
    }

    static void serve() throws Exception {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        REAL.println(server.getLocalPort());
        REAL.flush();
        while (true) {
            try (Socket line = server.accept()) {
                line.setTcpNoDelay(true);
                talk(line);
            } catch (IOException gone) {
                // the tester has closed it
            }
        }
    }

    static void talk(Socket line) throws Exception {
        Object state = fresh();
        BufferedReader in = new BufferedReader(new InputStreamReader(line.getInputStream()));
        OutputStream out = line.getOutputStream();
        for (String input = in.readLine(); input != null; input = in.readLine()) {
            String said = input.equals("ping") ? "pong" : answer(state, input);
            out.write((said + "\n").getBytes());
            if (said.contains("error_")) {
                return;
            }
        }
    }

    static Object[] values(Object state) throws Exception {
        Object[] found = new Object[fields.size()];
        for (int at = 0; at < found.length; at++) {
            found[at] = fields.get(at).get(state);
        }
        return found;
    }

    static void search(int depth, int most) throws Exception {
        Field named = problem.getDeclaredField("inputs");
        named.setAccessible(true);
        String[] inputs = (String[]) named.get(fresh());
        Set<List<Object>> seen = new HashSet<>();
        List<Object[]> level = new ArrayList<>();
        level.add(values(fresh()));
        Map<String, Integer> errors = new TreeMap<>();
        int deep = 0;
        for (; deep < depth && !level.isEmpty() && seen.size() < most; deep++) {
            List<Object[]> next = new ArrayList<>();
            for (Object[] from : level) {
                for (String input : inputs) {
                    Object state = fresh();
                    for (int at = 0; at < from.length; at++) {
                        fields.get(at).set(state, from[at]);
                    }
                    String said = answer(state, input);
                    if (said.contains("error_")) {
                        errors.putIfAbsent(said.substring(said.indexOf("error_")), deep + 1);
                    } else if (!said.endsWith("invalid")) {
                        Object[] then = values(state);
                        if (seen.add(List.of(then))) {
                            next.add(then);
                        }
                    }
                }
            }
            level = next;
        }
        REAL.println((level.isEmpty() ? "whole " : "searched ") + deep + " " + seen.size());
        errors.forEach((name, length) -> REAL.println(name + " " + length));
        REAL.flush();
    }
}
